"""NATS: connections, the embedded server, keys and accounts. Moves messages, knows no meaning."""

from pmcl.bus.accounts import DURABLES, SERVICES, core_permissions, host_permissions
from pmcl.bus.binary import find_nats_server
from pmcl.bus.config import ConnectionConfig
from pmcl.bus.connection import Connection, Handler, Subscription, open_connection
from pmcl.bus.errors import (
    AppendRefusedError,
    BusBusyError,
    BusClosedError,
    BusTimeoutError,
    HeaderError,
    JetStreamError,
    KeyringError,
    MessageTooLargeError,
    NoRespondersError,
    ServerError,
    ServerLockedError,
    StreamConfigError,
    StreamMissingError,
    UncertainAppendError,
    WrongSequenceError,
)
from pmcl.bus.keys import DEFAULT_TRUST, Credentials, HostEntry, Identity, Keyring
from pmcl.bus.message import STREAM_SEQUENCE, Message
from pmcl.bus.monitor import check_server, healthy, varz
from pmcl.bus.server import EmbeddedServer, run_server
from pmcl.bus.server_config import Ports, ServerConfig, prepare_server, server_configuration

__all__ = [
    "DEFAULT_TRUST",
    "DURABLES",
    "SERVICES",
    "STREAM_SEQUENCE",
    "AppendRefusedError",
    "BusBusyError",
    "BusClosedError",
    "BusTimeoutError",
    "Connection",
    "ConnectionConfig",
    "Credentials",
    "EmbeddedServer",
    "Handler",
    "HeaderError",
    "HostEntry",
    "Identity",
    "JetStreamError",
    "Keyring",
    "KeyringError",
    "Message",
    "MessageTooLargeError",
    "NoRespondersError",
    "Ports",
    "ServerConfig",
    "ServerError",
    "ServerLockedError",
    "StreamConfigError",
    "StreamMissingError",
    "Subscription",
    "UncertainAppendError",
    "WrongSequenceError",
    "check_server",
    "core_permissions",
    "find_nats_server",
    "healthy",
    "host_permissions",
    "open_connection",
    "prepare_server",
    "run_server",
    "server_configuration",
    "varz",
]
