"""What a killed backup left goes with the next one; what somebody else put there never does."""

from pathlib import Path

import pytest

from pmcl.contracts import LedgerError
from pmcl.ops.record.backup_place import fresh_place, is_untold, note_told


def test_a_place_is_untold_until_the_ledger_knows(tmp_path: Path) -> None:
    place = tmp_path / "monday"
    with fresh_place(place) as folder:
        (folder / "manifest.json").touch()
        assert not place.exists()
    assert is_untold(place)
    note_told(place)
    assert [path.name for path in place.iterdir()] == ["manifest.json"]
    with pytest.raises(LedgerError, match="not an empty folder"), fresh_place(place):
        pass


def test_what_was_broken_off_gives_way_to_the_next(tmp_path: Path) -> None:
    place = tmp_path / "monday"
    with fresh_place(place) as folder:
        (folder / "ledger.key").touch()
    left = tmp_path / f".monday.{'0' * 26}"
    left.mkdir()
    (left / "ledger.sqlite").touch()
    with fresh_place(place) as folder:
        assert not left.exists()
        assert (place / "ledger.key").exists()  # until there is another
    assert [path.name for path in tmp_path.iterdir()] == ["monday"]
    assert [path.name for path in place.iterdir()] == ["untold"]


def test_a_backup_under_way_and_other_folders_are_left_alone(tmp_path: Path) -> None:
    place = tmp_path / "monday"
    other = tmp_path / ".monday.notes"
    other.mkdir()
    with fresh_place(place) as first, fresh_place(place):
        assert first.exists()
    assert other.exists()
    assert is_untold(place)


def test_a_block_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with fresh_place(tmp_path / "monday"):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_made_is_told_by_the_name_that_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    place = tmp_path / "file" / "monday"
    with pytest.raises(OSError, match="Not a directory") as told, fresh_place(place):
        pass
    assert told.value.filename == str(place)


def test_what_cannot_be_written_is_told_by_the_name_that_was_asked_for(tmp_path: Path) -> None:
    place = tmp_path / "monday"
    with pytest.raises(FileExistsError) as told, fresh_place(place) as folder:
        (folder / "untold").touch()
    assert told.value.filename == str(place)
    assert not place.exists()


def test_an_error_about_something_else_keeps_its_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as told, fresh_place(tmp_path / "monday"):
        (tmp_path / "ledger.key").read_bytes()
    assert told.value.filename == str(tmp_path / "ledger.key")
