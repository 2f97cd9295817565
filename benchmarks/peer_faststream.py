"""FastStream as its documentation shows it: an echoing RPC handler, an idle pull handler."""

import argparse
from functools import partial
from typing import Any

import anyio
from faststream.nats import JStream, NatsBroker, PullSub


async def echo(message: dict[str, Any]) -> dict[str, Any]:
    return message


async def ignore(message: dict[str, Any]) -> None:
    """Do nothing: what remains is the framework's own cost."""


async def serve_echo(url: str, subject: str) -> None:
    broker = NatsBroker(url, logger=None)
    broker.subscriber(subject)(echo)
    await run(broker)


async def serve_pull(url: str, stream: str, durable: str, subject: str) -> None:
    broker = NatsBroker(url, logger=None)
    bound = JStream(stream, declare=False)
    broker.subscriber(subject, stream=bound, durable=durable, pull_sub=PullSub())(ignore)
    await run(broker)


async def run(broker: NatsBroker) -> None:
    async with broker:
        await broker.start()
        print("ready", flush=True)
        await anyio.sleep_forever()


def main() -> None:
    parser = argparse.ArgumentParser()
    kinds = parser.add_subparsers(dest="kind", required=True)
    rpc = kinds.add_parser("echo")
    pull = kinds.add_parser("pull")
    for name in ("url", "subject"):
        rpc.add_argument(name)
    for name in ("url", "stream", "durable", "subject"):
        pull.add_argument(name)
    given = vars(parser.parse_args())
    serve = serve_echo if given.pop("kind") == "echo" else serve_pull
    anyio.run(partial(serve, **given), backend_options={"use_uvloop": True})


if __name__ == "__main__":
    main()
