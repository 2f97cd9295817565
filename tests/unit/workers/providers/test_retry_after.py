"""What a `Retry-After` says, in both of its forms, and what says nothing."""

from datetime import UTC, datetime

import pytest

from pmcl.workers.providers.retry_after import retry_after_ms

NOW = datetime(2026, 12, 3, 7, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "expected_ms"),
    [
        (None, 0),
        ("0", 0),
        ("120", 120_000),
        ("999999999", 999_999_999_000),
        ("Thu, 03 Dec 2026 07:00:05 GMT", 5_000),
        ("Thu, 03 Dec 2026 06:59:55 GMT", 0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 251_606_019_599_000),
        ("", 0),
        ("-1", 0),
        ("1.5", 0),
        ("soon", 0),
        ("9" * 5_000, 0),
        ("\u0661\u0662", 0),
        ("Thu, 03 Dec 2026 07:00:05 +0000", 0),
        ("Thu, 03 Dec 10000 07:00:05 GMT", 0),
    ],
)
def test_retry_after_is_a_wait_or_nothing(value: str | None, expected_ms: int) -> None:
    assert retry_after_ms(value, NOW) == expected_ms
