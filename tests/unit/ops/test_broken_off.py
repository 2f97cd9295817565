"""A backup that was broken off is told of until there is nothing of it any more."""

from pathlib import Path

import pytest

from pmcl.ops.record.backup_place import fresh_place, note_told
from pmcl.ops.record.broken_off import broken_off, noting


def test_a_backup_is_told_of_while_it_is_made_and_not_once_it_is_known(tmp_path: Path) -> None:
    place = tmp_path / "backups" / "monday"
    with noting(tmp_path, place):
        with fresh_place(place) as folder:
            assert broken_off(tmp_path) == [folder]
        assert broken_off(tmp_path) == [place]  # whole, and the ledger does not know it
        note_told(place)
        assert broken_off(tmp_path) == []
    assert list((tmp_path / "backups-begun").iterdir()) == []


def test_one_that_failed_leaves_no_note(tmp_path: Path) -> None:
    place = tmp_path / "monday"
    with pytest.raises(ValueError, match="no"), noting(tmp_path, place), fresh_place(place):
        raise ValueError("no")
    assert broken_off(tmp_path) == []
    assert list((tmp_path / "backups-begun").iterdir()) == []


def test_one_that_was_killed_is_told_of_until_it_is_removed(tmp_path: Path) -> None:
    left = tmp_path / f".monday.{'0' * 26}"
    with noting(tmp_path, tmp_path / "monday"):
        left.mkdir()
    other = tmp_path / ".monday.mine"
    other.mkdir()
    assert broken_off(tmp_path) == [left]

    left.rmdir()
    assert broken_off(tmp_path) == []
    with noting(tmp_path, tmp_path / "monday"):
        pass
    assert list((tmp_path / "backups-begun").iterdir()) == []
