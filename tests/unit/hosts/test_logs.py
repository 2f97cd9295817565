import subprocess
import sys

QUIET = """
import structlog
from pmcl.hosts.logs import keep_logs_off_stdout
{before}
keep_logs_off_stdout()
structlog.get_logger().info("host.chats")
structlog.get_logger().warning("host.warns")
"""


def _output(before: str) -> tuple[str, str]:
    command = [sys.executable, "-c", QUIET.format(before=before)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    return done.stdout, done.stderr


def test_warnings_alone_are_shown_and_never_on_standard_output() -> None:
    stdout, stderr = _output("")
    assert stdout == ""
    assert "host.warns" in stderr
    assert "host.chats" not in stderr


def test_a_program_that_configured_structlog_keeps_its_own_way() -> None:
    stdout, stderr = _output("structlog.configure()")
    assert "host.chats" in stdout
    assert stderr == ""
