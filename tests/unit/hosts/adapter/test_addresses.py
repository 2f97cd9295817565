import pytest

from pmcl.hosts.adapter.addresses import file_of, hosts_of, is_address


@pytest.mark.parametrize(
    ("address", "hosts"),
    [
        ("https://Example.org:8080/x?y", ("example.org",)),
        ("example.org/x", ("example.org",)),
        ("//example.org/x", ("example.org",)),
        ("https:example.org", ("example.org",)),
        ("https:///example.org/x", ("example.org",)),
        ("https:\\\\example.org\\x", ("example.org",)),
        (" \x01https://exa\nmple.org", ("example.org",)),
        ("https://amy@example.org@example.com/", ("example.com",)),
        ("https://example.org\\@example.com/", ("example.com", "example.org")),
    ],
)
def test_an_address_counts_by_every_host_that_a_reader_would_ask(
    address: str, hosts: tuple[str, ...]
) -> None:
    assert hosts_of(address) == hosts


@pytest.mark.parametrize("address", ["https://", "https:///", "https://[::1/x"])
def test_an_address_that_leads_nowhere_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match=r"no host|Invalid IPv6"):
        hosts_of(address)


def test_an_address_of_a_file_leads_to_its_path() -> None:
    assert [file_of(each) for each in (" file:///a%20b", "FILE:/a", "https://a/b")] == [
        "/a b",
        "/a",
        None,
    ]


def test_a_text_is_an_address_by_its_scheme() -> None:
    assert all(map(is_address, ("s3://a", "HTTPS:\\\\a", "file:/a", " ftp://a")))
    assert not any(map(is_address, ("a.org/b", "note: a", "C:\\a", "see https://a")))
