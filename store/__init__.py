"""SQLite: the one writer with group commit, readers, named queries, the file's version."""

from pmcl.store.backup import copy_store
from pmcl.store.config import StoreConfig
from pmcl.store.errors import (
    StatementError,
    StoreBusyError,
    StoreUnavailableError,
    StoreVersionError,
)
from pmcl.store.queries import Queries, load_queries
from pmcl.store.reader import Reader, open_reader
from pmcl.store.scan import scan
from pmcl.store.transaction import Row, Transaction
from pmcl.store.writer import Writer, open_writer

__all__ = [
    "Queries",
    "Reader",
    "Row",
    "StatementError",
    "StoreBusyError",
    "StoreConfig",
    "StoreUnavailableError",
    "StoreVersionError",
    "Transaction",
    "Writer",
    "copy_store",
    "load_queries",
    "open_reader",
    "open_writer",
    "scan",
]
