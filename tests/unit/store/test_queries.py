import pytest

from pmcl.store import Queries, load_queries

SOURCE = """CREATE TABLE t (a INTEGER) STRICT;

-- name: put
INSERT INTO t (a) VALUES (:a);

-- name: get
-- a comment stays with its query
SELECT a FROM t;
"""


def test_sections_become_attributes_and_the_rest_the_schema() -> None:
    queries = Queries(SOURCE)
    assert queries.schema.strip() == "CREATE TABLE t (a INTEGER) STRICT;"
    assert queries.put == "INSERT INTO t (a) VALUES (:a);"
    assert queries.get.endswith("SELECT a FROM t;")
    assert list(queries.texts) == ["put", "get"]


def test_unknown_name_is_an_attribute_error_that_lists_the_names() -> None:
    with pytest.raises(AttributeError, match=r"'pot'.*'get', 'put'"):
        _ = Queries(SOURCE).pot


@pytest.mark.parametrize("section", ["put", "schema", "texts"])
def test_doubled_and_reserved_names_are_refused(section: str) -> None:
    with pytest.raises(ValueError, match="unique"):
        Queries(f"{SOURCE}\n-- name: {section}\nSELECT 1;")


def test_queries_are_read_from_the_package() -> None:
    assert "journal" in load_queries("pmcl.outbox", "journal").append
