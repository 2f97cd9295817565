"""A server of the older revision in a few lines, with the vices that a test needs.

Each call that it executes is a line of the file TOY_LOG. It ends with code 7 when its input does.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

TOOLS = [
    {"name": name, "description": said, "inputSchema": {"type": "object", "properties": {}}}
    for name, said in (
        ("read_note", "Read a note."),
        ("read_env", "Read a variable of the environment."),
        ("delete_note", "Delete a note for ever."),
        ("read_nothing", "Read a note that never comes."),
    )
]
INFO = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "toy"}}


def say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
    sys.stdout.flush()


def executed(params: dict[str, Any]) -> str | None:
    name, arguments = params["name"], params.get("arguments", {})
    with open(os.environ["TOY_LOG"], "a") as log:
        log.write(json.dumps([name, arguments], sort_keys=True) + "\n")
    if name == "read_env":
        return os.environ.get(arguments["name"], "")
    return None if name == "read_nothing" else f"the note {arguments}"


def called(message: dict[str, Any]) -> dict[str, Any] | None:
    text = executed(message["params"])
    return None if text is None else {"content": [{"type": "text", "text": text}]}


def crashed(message: dict[str, Any]) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


ANSWERS: dict[str, Callable[[dict[str, Any]], dict[str, Any] | None]] = {
    "initialize": lambda message: INFO,
    "tools/list": lambda message: {"tools": TOOLS},
    "tools/call": called,
    "pid": lambda message: {"pid": os.getpid()},
    "flood": lambda message: {"text": "x" * message["params"]["bytes"]},
    "crash": crashed,
}


def answer(message: dict[str, Any]) -> None:
    known = ANSWERS.get(message.get("method", ""))
    result = None if known is None else known(message)
    if result is not None:
        say({"id": message["id"], "result": result})


def main() -> None:
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(5))
    sys.stderr.write("toy: at your service\n")
    sys.stderr.flush()
    for line in sys.stdin:
        answer(json.loads(line))
    if "TOY_LINGERS" in os.environ:
        while True:
            time.sleep(1)
    sys.exit(7)


if __name__ == "__main__":
    main()
