"""An MCP server that answers each call at once: `python -m benchmarks.peer_mcp`."""

import json
import sys

TOOL = {"name": "read_file", "description": "Read a file.", "inputSchema": {"type": "object"}}


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if message["method"] == "tools/list":
            result = {"tools": [TOOL]}
        else:
            content = [{"type": "text", "text": message["params"]["arguments"]["path"]}]
            result = {"content": content}
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
