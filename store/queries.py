"""Named queries: the SQL text stands beside its module and is never put together at run time.

A `.sql` file holds the schema, then sections that open with a line `-- name: <query>`.
"""

import re
from functools import cache
from importlib.resources import files

__all__ = ["Queries", "load_queries"]

_section = re.compile(r"^-- name: ([a-z][a-z0-9_]*)$", re.MULTILINE)
_RESERVED = frozenset({"schema", "texts"})


class Queries:
    """The queries of one file, each an attribute that holds its SQL text.

    Attributes:
        schema: everything before the first query.
        texts: query name to SQL text.
    """

    schema: str
    texts: dict[str, str]

    def __init__(self, source: str) -> None:
        self.schema, *sections = _section.split(source)
        names = sections[::2]
        self.texts = dict(zip(names, map(str.strip, sections[1::2]), strict=True))
        if len(self.texts) != len(names) or _RESERVED & self.texts.keys():
            raise ValueError(f"query names must be unique and none of {sorted(_RESERVED)}: {names}")
        self.__dict__.update(self.texts)

    def __getattr__(self, name: str) -> str:
        raise AttributeError(f"no query {name!r}; there are {sorted(self.texts)}")


@cache
def load_queries(package: str, name: str) -> Queries:
    """Return the queries of `<name>.sql` in `package`.

    Raises:
        ValueError: a query name stands twice, or is `schema` or `texts`.
    """
    return Queries(files(package).joinpath(f"{name}.sql").read_text(encoding="utf-8"))
