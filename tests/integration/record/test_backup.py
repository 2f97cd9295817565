"""A backup is the ledger at one moment, is believed only when it is whole, and can be restored."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from pmcl.contracts import LedgerError, sha256
from pmcl.ops.record import backup as backup_module
from pmcl.ops.record.audit import audit_record
from pmcl.ops.record.backup import list_backups, make_backup
from pmcl.ops.record.files import digest_of
from pmcl.ops.record.restore import restore_backup
from pmcl.ops.record.verify_backup import BadBackupError, verify_backup
from pmcl.ops.state_dir import StateDirInUseError
from tests.acceptance.processes import pmcl
from tests.acceptance.world import clean_environment
from tests.integration.record.office import Office
from tests.integration.record.test_folding import epoch, retaken, state

pytestmark = pytest.mark.anyio


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*"))


async def test_a_backup_under_load_is_one_moment_and_comes_back_whole(office: Office) -> None:
    place = office.directory / "backups" / "first"
    async with office.sidecar():
        before = await office.work()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(office.work, 400)
            made = await make_backup(office.settings, place)
        after = await office.work()
    newest, first_epoch = await state(office), await epoch(office)
    assert files(place) == ["ledger.key", "ledger.sqlite", "manifest.json"]
    assert [path.stat().st_mode & 0o077 for path in (place, *place.iterdir())] == [0] * 4

    report = await restore_backup(office.settings, place, replace=True)
    async with office.sidecar():
        pass

    assert report["sequence"] == made["sequence"]
    assert await state(office) == newest
    assert await epoch(office) != first_epoch
    assert set(after) <= set(await retaken(office))
    assert not set(before) & set(await retaken(office))
    assert (await audit_record(office.settings))["sound"]
    (kept,) = report["kept"]
    assert (office.settings.state_dir / kept).exists()


async def test_the_ledger_knows_its_backups_also_after_it_went_back(office: Office) -> None:
    async with office.sidecar():
        await office.work()
        made = [await make_backup(office.settings, office.directory / "first")]
    # No relay sends that this one was made, and the ledger that knows of it is set aside.
    made.append(await make_backup(office.settings, office.directory / "second"))
    for place in ("first", "second"):
        await restore_backup(office.settings, office.directory / place, replace=True)
        async with office.sidecar():
            pass

    found = await list_backups(office.settings)

    assert [backup.backup_id for backup in found] == [m["backup_id"] for m in reversed(made)]
    assert found[0].place == str(office.directory / "second")
    assert found[0].by.startswith("operator/")
    assert (await audit_record(office.settings))["sound"]


async def test_a_restored_ledger_that_is_not_behind_log_has_another_epoch_too(
    worked: Office,
) -> None:
    await make_backup(worked.settings, worked.directory / "b")
    first_epoch = await epoch(worked)

    await restore_backup(worked.settings, worked.directory / "b", replace=True)

    assert await epoch(worked) != first_epoch


async def test_without_the_word_a_restore_only_verifies(worked: Office) -> None:
    await make_backup(worked.settings, worked.directory / "b")
    before, content = files(worked.settings.state_dir), worked.ledger.read_bytes()

    report = await restore_backup(worked.settings, worked.directory / "b")

    assert (report["restored"], report["kept"]) == (False, [])
    assert files(worked.settings.state_dir) == before
    assert worked.ledger.read_bytes() == content


async def test_another_key_is_kept_beside_as_well(worked: Office) -> None:
    await make_backup(worked.settings, worked.directory / "b")
    key = worked.settings.state_dir / "ledger.key"
    right = key.read_bytes()
    key.write_bytes(bytes(32))

    report = await restore_backup(worked.settings, worked.directory / "b", replace=True)

    assert key.read_bytes() == right
    ledger, old_key = report["kept"]
    assert ledger.endswith(".sqlite")
    assert digest_of(Path(old_key)) == sha256(bytes(32))


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def flip_ledger(place: Path) -> None:
    flip(place / "ledger.sqlite")


def flip_key(place: Path) -> None:
    flip(place / "ledger.key")


def lose_key(place: Path) -> None:
    (place / "ledger.key").unlink()


def lose_manifest(place: Path) -> None:
    (place / "manifest.json").unlink()


def spoil_manifest(place: Path) -> None:
    (place / "manifest.json").write_text("{}")


@pytest.mark.parametrize("spoil", [flip_ledger, flip_key, lose_key, lose_manifest, spoil_manifest])
async def test_a_backup_that_is_not_whole_is_refused_and_nothing_touched(
    worked: Office, spoil: Callable[[Path], None]
) -> None:
    place = worked.directory / "b"
    await make_backup(worked.settings, place)
    spoil(place)
    before, content = files(worked.settings.state_dir), worked.ledger.read_bytes()

    with pytest.raises(BadBackupError):
        await restore_backup(worked.settings, place, replace=True)

    assert files(worked.settings.state_dir) == before
    assert worked.ledger.read_bytes() == content


async def test_a_backup_of_a_broken_chain_is_not_made(worked: Office) -> None:
    worked.tamper("UPDATE journal SET body = x'7b7d' WHERE sequence = 9")

    with pytest.raises(BadBackupError, match="chain breaks at row 9"):
        await make_backup(worked.settings, worked.directory / "b")

    assert not (worked.directory / "b").exists()
    assert [path.name for path in worked.directory.iterdir() if "b" in path.suffix] == []


async def test_a_folder_with_something_in_it_is_refused(office: Office) -> None:
    async with office.sidecar():
        pass
    (office.directory / "b").mkdir()
    (office.directory / "b" / "mine").touch()

    with pytest.raises(LedgerError, match="not an empty folder"):
        await make_backup(office.settings, office.directory / "b")

    assert files(office.directory / "b") == ["mine"]


async def test_a_backup_that_is_stopped_leaves_nothing(
    worked: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sorted(path.name for path in worked.directory.iterdir())
    with anyio.CancelScope() as scope:

        async def stopped(*_: Any, **__: Any) -> None:
            scope.cancel()
            await anyio.sleep_forever()

        monkeypatch.setattr(backup_module, "verify_backup", stopped)
        await make_backup(worked.settings, worked.directory / "b")

    assert scope.cancelled_caught
    assert sorted(path.name for path in worked.directory.iterdir()) == before
    assert await list_backups(worked.settings) == []


async def test_a_restore_beside_a_sidecar_is_refused(office: Office) -> None:
    async with office.sidecar():
        await make_backup(office.settings, office.directory / "b")
        with pytest.raises(StateDirInUseError):
            await restore_backup(office.settings, office.directory / "b", replace=True)


async def test_a_backup_that_was_moved_is_still_whole(worked: Office) -> None:
    made = await make_backup(worked.settings, worked.directory / "b")
    moved = (worked.directory / "b").rename(worked.directory / "c")
    assert (await verify_backup(moved)).backup_id == made["backup_id"]


async def test_the_commands_say_what_they_did(office: Office) -> None:
    state_dir = ("--state-dir", str(office.settings.state_dir))
    place = str(office.directory / "b")
    async with office.sidecar():
        await office.work()
        made = await pmcl("backup", place, *state_dir, environment=clean_environment())
        again = await pmcl("backup", place, *state_dir, environment=clean_environment())
        found = await pmcl("backups", *state_dir, environment=clean_environment())
    restored = await pmcl(
        "restore", place, "--replace", *state_dir, environment=clean_environment()
    )

    assert made.code == 0, made.stderr
    assert f"place     {place}" in made.stdout
    assert again.code == 1
    assert "not an empty folder" in again.stderr
    assert place in found.stdout
    assert restored.code == 0, restored.stderr
    assert "it takes the rest from LOG first" in restored.stdout
