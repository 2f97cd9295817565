"""The sidecar of an example: the one that runs already, or one for as long as the example runs."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pmcl.hosts import HostConfig, load_host
from pmcl.ops.known_hosts import find_host
from pmcl.ops.settings import load_settings

__all__ = ["sidecar"]

PMCL = (sys.executable, "-m", "pmcl.ops")


@contextmanager
def sidecar() -> Iterator[HostConfig]:
    """Yield a host's configuration: of the one that the command line names, or of a new one."""
    if len(sys.argv) > 1:
        yield find_host(load_settings(), sys.argv[1])
        return
    with tempfile.TemporaryDirectory(prefix="pmcl-example-") as state_dir:
        where = ("--state-dir", state_dir)
        add = [*PMCL, "host", "add", "example", "--scope", "examples", *where]
        subprocess.run(add, check=True, stdout=subprocess.DEVNULL)
        with subprocess.Popen([*PMCL, "up", *where], stdout=subprocess.PIPE) as process:
            try:
                assert process.stdout is not None
                if not process.stdout.readline():  # else it says that it is ready
                    sys.exit("the sidecar did not start")
                credentials = Path(state_dir, "credentials", "examples.example.json")
                yield load_host(credentials, Path(state_dir))
            finally:
                process.terminate()
