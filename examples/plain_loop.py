"""An agent loop of one's own: each tool runs only when its call passed.

python examples/plain_loop.py         with a sidecar of its own
python examples/plain_loop.py NAME    as a host of `pmcl host add`, beside a running `pmcl up`
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from sidecar import sidecar
from stub_model import REQUEST, next_step

from pmcl.hosts import HeldError, SyncHost

STEPS_MAX = 8


def main() -> None:
    """Have the model do what the user asks for."""
    os.chdir(Path(__file__).parent)
    with sidecar() as config, SyncHost.connect(config) as host:

        @host.guarded(server="files", effect="inspect_local")
        def read_file(path: str) -> str:
            """Read a text file."""
            return Path(path).read_text()

        @host.guarded(server="mail", effect="communication")
        def send_mail(to: str, body: str) -> str:
            """Send a mail."""
            return f"mail sent to {to}: {body}"

        with host.turn() as turn:
            turn.said(REQUEST)
            print("user:", REQUEST)
            print("model:", answer({"read_file": read_file, "send_mail": send_mail}))


def answer(tools: Mapping[str, Callable[..., str]]) -> str:
    """Return the model's answer, after as many calls as it wants and a loop should allow."""
    read = REQUEST
    for _ in range(STEPS_MAX):
        step = next_step(read)
        if isinstance(step, str):
            return step
        print("model calls:", step.tool, step.arguments)
        read = outcome(tools[step.tool], step.arguments)
        print("model reads:", read)
    return "I gave up."


def outcome(tool: Callable[..., str], arguments: dict[str, str]) -> str:
    """Return what the model reads of its call: the output, or why there is none."""
    try:
        return tool(**arguments)
    except HeldError as held:
        return str(held)  # the reasons, and what would lift the hold
    except OSError as error:
        return str(error)


if __name__ == "__main__":
    main()
