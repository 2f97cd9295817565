"""A host that has secrets wherever one can be: `sentinel_host CONFIG SEED work|again`, as a module.

It says on its output what came of each thing it tried; its errors and logs go to the other one.
"""

import logging
import sys
import traceback
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import anyio
import msgspec
import structlog

from pmcl.contracts import (
    Justification,
    PlanStep,
    Premortem,
    Receipt,
    RefusedError,
    Resource,
    Tool,
    ToolDefinition,
    definition_hash,
    sha256,
)
from pmcl.hosts import DispatchRefusedError, Host, HostConfig, Proposal, Verdict
from pmcl.ops.program.sentinels import Sentinel, leaky_text, sentinels

__all__: list[str] = []

_SETTLED_S = 20.0
_POLL_S = 0.02


class ToolError(Exception):
    """A tool's own, its text is full of secrets."""


class Leaky:
    """Everything a host can say, with all sentinels in it."""

    def __init__(self, known: dict[str, Sentinel]) -> None:
        self.of = known
        self.text = leaky_text(known.values())
        self.token = known["github"].secret

    def arguments(self, path: str) -> dict[str, Any]:
        secret = {kind: each.secret for kind, each in self.of.items()}
        url = self.of["url"].text
        return {
            "path": path,
            "note": self.text,
            "nested": [{"deep": {"password": secret["password"], "list": [self.text]}}],
            "headers": {
                "Authorization": f"Bearer {secret['bearer']}",
                "Proxy-Authorization": f"Basic {secret['basic']}",
                "Cookie": f"session={secret['cookie']}",
                "X-Api-Key": secret["openai"],
            },
            "pairs": [{"name": "X-Auth-Token", "value": secret["pair"]}],
            "argv": ["deploy", "--token", secret["argument"], "--verbose"],
            "url": url,
            "command": (
                f'curl -H "{self.of["bearer"].text}" {url} && {self.of["flag"].text}; '
                f"export API_KEY={secret['stripe']}; {self.of['curl'].text}; "
                f"echo '{self.of['json'].text}'"
            ),
            f"key {self.token}": {"pem": secret["pem"]},
        }

    def proposal(self, name: str, path: str, **changes: Any) -> Proposal:
        resources = (
            Resource(kind="path", value=path, argument="path"),
            Resource(kind="other", value=self.of["url"].text, argument=f"key {self.token}"),
        )
        fields: dict[str, Any] = {
            "goal": self.text,
            "tool": Tool(server="files", name=name, definition_hash=sha256(name.encode())),
            "arguments": self.arguments(path),
            "resources": resources,
            "expected_outcome": self.text,
            "premortem": Premortem(failure_mode="m", likelihood=0.2, mitigation=self.text),
            "justification": Justification(
                necessity=self.text,
                lower_risk_alternatives=(self.text,),
                residual_risks=(self.text,),
            ),
            "rejected_alternatives": (self.text,),
        }
        return Proposal(**fields | changes)

    def seen(self, **changes: Any) -> Any:
        resource = Resource(kind="other", value=self.of["url"].text, argument=self.token)
        fields = {
            "source": "shell",
            "summary": self.text,
            "detail": self.text * 3,
            "provenance": self.text,
            "resources": (resource,),
        }
        return fields | changes


def say(what: str, said: object) -> None:
    sys.stdout.write(f"{what}: {said}\n")
    sys.stdout.flush()


async def attempt(what: str, work: Awaitable[Any]) -> None:
    """Try what must be refused, and show its error as an uncaught one would be."""
    try:
        await work
    except RefusedError as error:
        traceback.print_exception(error)
        say(what, f"{error.code} {error.field} {error.value!r}")
    else:
        say(what, "taken")


async def dispatch(host: Host, what: str, verdict: Verdict, proposal: Proposal, told: Any) -> None:
    say(what, verdict.status)
    try:
        async with host.dispatch(verdict, proposal) as run:
            told(run)
    except (RefusedError, ToolError, DispatchRefusedError) as error:
        say(f"{what} ended", type(error).__name__)


async def observe(host: Host, leaky: Leaky) -> None:
    await host.observe(**leaky.seen())
    await host.observe_many([leaky.seen(key=f"many-{number}") for number in range(3)])
    for name in ("source", "key", "modality"):
        await attempt(f"observe {name}", host.observe(**leaky.seen(**{name: leaky.token})))


async def check(host: Host, leaky: Leaky) -> None:
    for tool in ("delete_file", "format_disk"):
        say(tool, (await host.check(leaky.proposal(tool, f"/work/{tool}"))).status)
    definition = ToolDefinition(description=leaky.text, parameters={"default": leaky.token})
    described = Tool(server="files", name="shell", definition_hash=definition_hash(definition))
    shell = leaky.proposal("shell", "/work/s", tool=described, definition=definition)
    say("shell", (await host.check(shell)).status)
    step = PlanStep(
        tool=described,
        arguments=leaky.arguments("/work/step"),
        resources=shell.resources,
        expected_outcome=leaky.text,
    )
    say("plan", (await host.check(Proposal.plan(leaky.text, (step, step)))).status)
    told = Proposal.recommendation(leaky.text, leaky.text, rejected_alternatives=(leaky.text,))
    say("recommendation", (await host.check(told)).status)
    named = Tool(server=leaky.token, name="read_file", definition_hash=sha256(b""))
    for what, changes in (("call id", {"call_id": leaky.token}), ("tool", {"tool": named})):
        refused = leaky.proposal("read_file", "/work/r", **changes)
        await attempt(f"check {what}", host.check(refused))
    await attempt("turn", host.complete(leaky.token))


async def run_tools(host: Host, leaky: Leaky) -> None:
    """Dispatch what passes: a failing tool, and one that says too much of itself."""

    def fail(_: Any) -> None:
        raise ToolError(leaky.text)

    plain = {"path": "/work/1", "password": leaky.of["password"].secret}
    for what, told in (
        ("failing tool", fail),
        ("failure mode", lambda run: run.failed(leaky.token)),
        ("receipt", lambda run: run.succeeded(Receipt(kind=leaky.token, digest="d" * 64))),
    ):
        proposal = leaky.proposal("read_file", "/work/1", arguments=plain)
        await dispatch(host, what, await host.check(proposal), proposal, told)
    one = leaky.proposal("read_file", "/work/1", arguments=plain)
    other = msgspec.structs.replace(
        one, arguments=plain | {"password": leaky.of["connection"].secret}
    )
    await dispatch(host, "swapped", await host.check(one), other, lambda run: run.succeeded())


async def work(host: Host, leaky: Leaky) -> None:
    await observe(host, leaky)
    await check(host, leaky)
    await run_tools(host, leaky)
    proposal = leaky.proposal("read_file", "/work/1", arguments={"path": "/work/1"})
    async with host.dispatch(await host.check(proposal), proposal):
        say("inside", "a dispatch")
        await anyio.sleep_forever()


async def again(host: Host, leaky: Leaky) -> None:
    """Run one inspection that nobody judges, then go on when there is a sidecar again."""

    def fail(_: Any) -> None:
        raise ToolError(leaky.text)

    proposal = leaky.proposal("read_file", "/work/1", arguments={"path": "/work/1"})
    await dispatch(host, "unjudged", await host.check(proposal), proposal, fail)
    with anyio.fail_after(_SETTLED_S):
        while host.generation is None:  # noqa: ASYNC110 - another process starts
            await anyio.sleep(_POLL_S)
    await observe(host, leaky)
    await check(host, leaky)
    await host.complete("turn-1")
    with anyio.fail_after(_SETTLED_S):
        while not host._session.file.is_empty:  # noqa: ASYNC110 - receipts of another process
            await anyio.sleep(_POLL_S)
    say("again", "done")


async def _main(config: HostConfig, leaky: Leaky, phase: str) -> None:
    async with Host.connect(config) as host:
        await (work if phase == "work" else again)(host, leaky)


if __name__ == "__main__":
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    text = Path(sys.argv[1]).read_bytes()
    anyio.run(
        _main,
        msgspec.json.decode(text, type=HostConfig, dec_hook=lambda kind, raw: kind(raw)),
        Leaky(sentinels(int(sys.argv[2]))),
        sys.argv[3],
        backend_options={"use_uvloop": True},
    )
