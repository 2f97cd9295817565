"""A path is its components; what is not plainly below a root is outside of it.

Paths come resolved from the adapter, which sees the file system; here they are only compared.
"""

__all__ = ["below", "components"]


def components(path: str) -> tuple[str, ...] | None:
    """Return the components of an absolute path without `.` and empty ones.

    `None` for what names no certain place: a relative path, one with `..`, one with NUL.
    """
    if not path.startswith("/") or "\0" in path:
        return None
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    return None if ".." in parts else parts


def below(path: str, roots: tuple[str, ...]) -> bool:
    """Return whether `path` is one of `roots` or lies below it, component by component."""
    parts = components(path)
    if parts is None:
        return False
    places = (components(root) for root in roots)
    return any(root is not None and parts[: len(root)] == root for root in places)
