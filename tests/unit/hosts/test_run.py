import pytest

from pmcl.contracts import ContractError, Receipt, SecretInNameError
from pmcl.hosts import Run

TOKEN = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"


class Über(Exception):  # noqa: N818 - a foreign name
    pass


@pytest.mark.parametrize(
    ("error", "status", "mode"),
    [
        (None, "succeeded", None),
        (KeyError("secret"), "failed", "KeyError"),
        (Über(), "failed", "-ber"),
        (KeyboardInterrupt(), "unknown", None),
    ],
)
@pytest.mark.anyio
async def test_end_decides_when_nothing_was_said(
    error: BaseException | None, status: str, mode: str | None
) -> None:
    run = Run()
    run.end(error)
    assert (run.status, run.failure_mode) == (status, mode)


def test_what_was_said_beats_the_exception() -> None:
    run = Run()
    run.unknown()
    run.failed("disk_full")
    run.end(ValueError())
    assert (run.status, run.failure_mode) == ("failed", "disk_full")


def test_malformed_receipt_is_refused_and_the_success_stands() -> None:
    run = Run()
    with pytest.raises(ContractError):
        run.succeeded(Receipt(kind="file", digest="no digest"))
    run.end(ContractError("$", "", ""))
    assert (run.status, run.receipt) == ("succeeded", None)


def test_malformed_mode_is_refused_and_the_failure_stands() -> None:
    run = Run()
    with pytest.raises(ContractError):
        run.failed("went wrong, badly")
    assert (run.status, run.failure_mode) == ("failed", "other")


def test_secret_as_a_mode_or_a_kind_is_refused_and_what_was_said_stands() -> None:
    run = Run()
    with pytest.raises(SecretInNameError) as caught:
        run.failed(TOKEN)
    assert (run.status, run.failure_mode) == ("failed", "other")
    with pytest.raises(SecretInNameError):
        run.succeeded(Receipt(kind=TOKEN, digest="d" * 64))
    assert (run.status, run.receipt) == ("succeeded", None)
    assert TOKEN not in str(caught.value)
