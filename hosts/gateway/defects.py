"""A defect is logged by its class and its line: its text may quote content."""

__all__ = ["where"]


def where(error: BaseException) -> dict[str, str]:
    """Return the class of an error, and the line that raised it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    line = "" if trace is None else f"{trace.tb_frame.f_code.co_name}:{trace.tb_lineno}"
    return {"error": type(error).__name__, "line": line}
