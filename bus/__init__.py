"""NATS: connections, the embedded server, keys and accounts. Moves messages, knows no meaning."""

from pmcl.bus.accounts import DURABLES, SERVICES, core_permissions, host_permissions
from pmcl.bus.append import (
    BATCH_MAX,
    LogRow,
    Outgoing,
    Stored,
    append_batch,
    append_pipelined,
    publish_batch,
    publish_stored,
)
from pmcl.bus.binary import find_nats_server
from pmcl.bus.config import ConnectionConfig
from pmcl.bus.connection import Connection, open_connection
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
from pmcl.bus.jetstream import StreamState, stored_message, stored_messages, stream_state
from pmcl.bus.keys import DEFAULT_TRUST, Credentials, HostEntry, Identity, Keyring
from pmcl.bus.message import STREAM_SEQUENCE, Message
from pmcl.bus.monitor import check_server, healthy, varz
from pmcl.bus.pull import Delivery, PullConfig, pull
from pmcl.bus.server import EmbeddedServer, run_server
from pmcl.bus.server_config import Ports, ServerConfig, prepare_server, server_configuration
from pmcl.bus.streams import (
    ACK_WAIT_S,
    DEADLETTERS,
    INTAKE,
    LOG,
    StreamLimits,
    ensure_streams,
    recreate_log,
    rewind_consumers,
    trim_intake,
)
from pmcl.bus.subscription import Handler, Subscription
from pmcl.bus.tasks import background_tasks, light_tasks

__all__ = [
    "ACK_WAIT_S",
    "BATCH_MAX",
    "DEADLETTERS",
    "DEFAULT_TRUST",
    "DURABLES",
    "INTAKE",
    "LOG",
    "SERVICES",
    "STREAM_SEQUENCE",
    "AppendRefusedError",
    "BusBusyError",
    "BusClosedError",
    "BusTimeoutError",
    "Connection",
    "ConnectionConfig",
    "Credentials",
    "Delivery",
    "EmbeddedServer",
    "Handler",
    "HeaderError",
    "HostEntry",
    "Identity",
    "JetStreamError",
    "Keyring",
    "KeyringError",
    "LogRow",
    "Message",
    "MessageTooLargeError",
    "NoRespondersError",
    "Outgoing",
    "Ports",
    "PullConfig",
    "ServerConfig",
    "ServerError",
    "ServerLockedError",
    "Stored",
    "StreamConfigError",
    "StreamLimits",
    "StreamMissingError",
    "StreamState",
    "Subscription",
    "UncertainAppendError",
    "WrongSequenceError",
    "append_batch",
    "append_pipelined",
    "background_tasks",
    "check_server",
    "core_permissions",
    "ensure_streams",
    "find_nats_server",
    "healthy",
    "host_permissions",
    "light_tasks",
    "open_connection",
    "prepare_server",
    "publish_batch",
    "publish_stored",
    "pull",
    "recreate_log",
    "rewind_consumers",
    "run_server",
    "server_configuration",
    "stored_message",
    "stored_messages",
    "stream_state",
    "trim_intake",
    "varz",
]
