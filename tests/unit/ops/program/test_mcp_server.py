import json
from pathlib import Path

import pytest

from pmcl.ops.program import mcp_server
from pmcl.ops.program.guarded import _FRAMES, _counted, _params


@pytest.mark.parametrize("form", _FRAMES)
def test_server_would_execute_every_frame_that_the_guard_must_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    async def none(_: Path) -> int:
        return 0

    monkeypatch.setattr(mcp_server, "_passes", none)
    log = tmp_path / "log"
    server = mcp_server._Server(log, tmp_path / "ledger")
    server.take(_FRAMES[form].replace(b"PARAMS", _params(form)).decode())
    assert json.loads(log.read_text()) == {"path": f"/notes/frame/{form}", "judged": False}


def test_what_reached_the_server_is_counted_by_what_it_was() -> None:
    executed = [
        {"path": "/notes/read_note/0", "judged": True},
        {"path": "/notes/delete_note/0", "judged": False},
        {"path": "/notes/frame/batch", "judged": False},
    ]
    counted = [(one.ran, one.n) for one in _counted(executed).values()]
    assert counted == [(2, 3), (1, 20), (1, len(_FRAMES))]
