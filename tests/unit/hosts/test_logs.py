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


def test_what_stood_in_for_standard_error_may_be_closed() -> None:
    exchanged = "import io, sys; kept, sys.stderr = sys.stderr, io.StringIO()"
    given_back = "sys.stderr.close(); sys.stderr = kept"
    stdout, stderr = _output(f"{exchanged}; keep_logs_off_stdout(); {given_back}")
    assert stdout == ""
    assert "host.warns" in stderr
