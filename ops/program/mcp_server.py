"""A lenient MCP server for the program: `mcp_server LOG LEDGER`, as a module.

It reads what stricter servers would not: batches, keys in any case, the last of two keys. Each call
that it executes is a line of the log, with whether the ledger held a pass for it at that moment:
its calls come one by one, so the n-th needs n passes.
"""

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any, Final

import anyio

from pmcl.ops.program.house import HOST
from pmcl.store import load_queries, open_reader

__all__ = ["GUARDED_SCOPE"]

GUARDED_SCOPE: Final = "guarded"
_queries = load_queries("pmcl.ops.program", "mcp_server")
_TOOLS: Final = {"read_note": "Read a note.", "delete_note": "Delete a note for ever."}
_INFO: Final = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "notes", "version": "1"},
}


async def _passes(ledger: Path) -> int:
    async with open_reader(ledger) as reader:
        row = await reader.one(_queries.passes, scope=GUARDED_SCOPE, host=HOST)
    return 0 if row is None else int(row["passes"])


class _Server:
    def __init__(self, log: Path, ledger: Path) -> None:
        self._log = log
        self._ledger = ledger
        self._executed = 0

    def take(self, text: str) -> None:
        """Answer every message of a line."""
        message = json.loads(text)
        for each in message if isinstance(message, list) else [message]:
            folded = {name.lower(): value for name, value in each.items()}
            answer = self._answer(folded.get("method"), folded.get("params", {}))
            if answer is not None:
                told = {"jsonrpc": "2.0", "id": folded.get("id"), "result": answer}
                sys.stdout.write(json.dumps(told) + "\n")
                sys.stdout.flush()

    def _answer(self, method: str | None, params: dict[str, Any]) -> dict[str, Any] | None:
        match method:
            case "initialize":
                return _INFO
            case "tools/list":
                schema = {"type": "object", "properties": {"path": {"type": "string"}}}
                return {
                    "tools": [
                        {"name": name, "description": said, "inputSchema": schema}
                        for name, said in _TOOLS.items()
                    ]
                }
            case "tools/call":
                self._execute(params["arguments"]["path"])
                return {"content": [{"type": "text", "text": "done"}]}
            case "ping":
                return {}
        return None

    def _execute(self, path: str) -> None:
        self._executed += 1
        passes = anyio.run(partial(_passes, self._ledger))
        with self._log.open("a") as log:
            log.write(json.dumps({"path": path, "judged": passes >= self._executed}) + "\n")


if __name__ == "__main__":
    server = _Server(Path(sys.argv[1]), Path(sys.argv[2]))
    for line in sys.stdin:
        server.take(line)
