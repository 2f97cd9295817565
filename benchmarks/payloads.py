"""Bodies of the size that hosts really send."""

import msgspec

__all__ = ["OBSERVATION", "REQUEST", "SUMMARY"]

SUMMARY = "The notes name a fee of three percent. " * 8

REQUEST = msgspec.json.encode(
    {
        "schema": "bench/request/1",
        "call_id": "call-000001",
        "goal": "Find the section about fees in the notes and quote it",
        "tool": {"server": "files", "name": "read_file", "definition_hash": "0" * 64},
        "arguments": {"path": "/srv/notes/fees.md", "limit": 200, "note": "x" * 600},
        "arguments_commitment": "0" * 64,
        "proposal_hash": "0" * 64,
        "resources": [{"kind": "path", "value": "/srv/notes/fees.md", "argument": "path"}],
    }
)
OBSERVATION = msgspec.json.encode(
    {
        "schema": "bench/observation/1",
        "key": "observation-000001",
        "source": "read_file",
        "trust": "tool_output",
        "summary": SUMMARY,
        "observed_at": 1_700_000_000_000,
    }
)
