from tests.integration.guard.conftest import guards

__all__ = ["guards"]
