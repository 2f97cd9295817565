"""Where traces of sentinels are found.

A trace is any 8 bytes of a secret's random part, plain, in base64 (at each of its three offsets) or
in hex.
"""

import base64
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from pmcl.ops.program.sentinels import Sentinel

__all__ = ["Tracer", "files_below"]

_FRAGMENT_BYTES: Final = 8


class Tracer:
    """Knows every trace of some sentinels."""

    def __init__(self, known: Iterable[Sentinel]) -> None:
        self._traces: dict[int, dict[bytes, str]] = {}
        for sentinel in known:
            for part in sentinel.parts:
                self._add_all(sentinel.kind, part.encode())
        # Most of a file is no text: only where each byte could be a trace's is looked closely.
        letters = bytes({byte for traces in self._traces.values() for byte in b"".join(traces)})
        self._runs = re.compile(b"[%s]{%d,}" % (re.escape(letters), min(self._traces)))

    def _add_all(self, kind: str, part: bytes) -> None:
        self._add(f"{kind}, plain", part, _FRAGMENT_BYTES)
        for upper in (False, True):
            hexed = part.hex().upper() if upper else part.hex()
            self._add(f"{kind}, hex", hexed.encode(), 2 * _FRAGMENT_BYTES, step=2)
        for offset in range(3):
            for altchars in (b"+/", b"-_"):
                padded = base64.b64encode(bytes(offset) + part, altchars)
                # What an offset or the padding has mixed with other bytes is cut off.
                core = padded[-(-offset * 4 // 3) if offset else 0 :].rstrip(b"=")[:-1]
                self._add(f"{kind}, base64", core, 12)

    def _add(self, name: str, text: bytes, length: int, step: int = 1) -> None:
        of_length = self._traces.setdefault(length, {})
        for start in range(0, len(text) - length + 1, step):
            of_length[text[start : start + length]] = name

    def in_bytes(self, data: bytes) -> set[str]:
        """Return the kinds and forms of the traces in some bytes."""
        found = set()
        for run in set(self._runs.findall(data)):
            for length, traces in self._traces.items():
                get = traces.get
                for start in range(len(run) - length + 1):
                    name = get(run[start : start + length])
                    if name is not None:
                        found.add(name)
        return found

    def in_files(self, *roots: Path, without: Iterable[Path] = ()) -> dict[str, set[str]]:
        """Return the traces in the files below some folders, by path."""
        found = {}
        for path in files_below(roots, {*without}):
            if traces := self.in_bytes(path.read_bytes()) | self.in_bytes(path.name.encode()):
                found[str(path)] = traces
        return found


def files_below(roots: Iterable[Path], without: set[Path]) -> Iterator[Path]:
    """Yield every file below some folders, but for those that are left out."""
    for root in roots:
        for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
            if path.is_file() and without.isdisjoint({path, *path.parents}):
                yield path
