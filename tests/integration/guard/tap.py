"""Runs a server and keeps what it says, byte for byte: `tap.py FILE COMMAND…`."""

import os
import subprocess
import sys

_CHUNK_BYTES = 65_536


def main(path: str, *command: str) -> int:
    with (
        open(path, "wb", buffering=0) as kept,
        subprocess.Popen(command, stdout=subprocess.PIPE) as server,
    ):
        assert server.stdout is not None
        while said := os.read(server.stdout.fileno(), _CHUNK_BYTES):
            kept.write(said)
            os.write(sys.stdout.fileno(), said)
        return server.wait()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
