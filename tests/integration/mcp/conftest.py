from tests.integration.guard.conftest import guards, shared_guards

__all__ = ["guards", "shared_guards"]
