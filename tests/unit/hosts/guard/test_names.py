import pytest

from pmcl.hosts.guard import name_of


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("npx -y @modelcontextprotocol/server-filesystem@1.2.3 /data", "server-filesystem"),
        ("npx -y server-memory", "server-memory"),
        ("uvx mcp-server-git --repository /r", "mcp-server-git"),
        ("uv run server.py", "server"),
        ("/usr/bin/python3.11 -m mcp_server_time", "mcp_server_time"),
        ("node /opt/x/dist/index.js", "index"),
        ("/opt/bin/my-server --flag", "my-server"),
        ("python", "python"),
        ("-x", "server"),
        ("/opt/a b/wéird", "w-ird"),
    ],
)
def test_the_name_is_that_of_the_program(command: str, name: str) -> None:
    words = [command] if " b/" in command else command.split()
    assert name_of(words) == name
