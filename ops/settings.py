"""Settings: read once, here, from `PMCL_*` and one TOML file; each has a meaning, unit and limit.

The environment wins over the file, the file over the default.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
import platformdirs

from pmcl.contracts import Mismatch, PmclError, limits

__all__ = ["Settings", "SettingsError", "load_settings"]

_setting = re.compile(r"\$\.(\w+)")

Positive = Annotated[int, msgspec.Meta(ge=1)]
Whole = Annotated[int, msgspec.Meta(ge=0)]


class SettingsError(PmclError):
    """A setting is unknown or does not fit; the message names it, its place and the limit."""


def _default_state_dir() -> Path:
    return Path(platformdirs.user_state_dir("pmcl"))


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that an operator can set; `docs/settings.md` lists it.

    Attributes:
        state_dir: keys, ledger and the embedded server's store.
        rules: TOML file that says what tools do; unset, only the built-in rules count.
        server_url: of an external nats-server; unset, the embedded one is run.
        server_monitor_url: its monitoring port, `http://…`; asked whether every write is synced.
        lease_ttl_ms: how long a lease lives without a heartbeat, milliseconds.
        heartbeat_ms: how often a host is asked to send one, milliseconds; below the lease's life.
        queue_cell, queue_host: requests under way in this cell, and of one host.
        stream_slots: stream messages under way at once for each worker.
        approval_ttl_ms: how long a grant can be used that names no time, milliseconds.
        reflection: whether anything is reflected on; jobs wait while it is off.
        reflection_idle_ms: between two idle reflections of one host, milliseconds.
        reflection_backoff_ms: after a host's first failed cycle; each further one doubles it.
        reflection_open_ms: how long a circuit stays open, and the longest backoff, milliseconds.
        reflection_window_ms: over which the next three budgets of a host roll, milliseconds.
        reflection_tokens: of a model.
        reflection_time_ms: of the reflector, milliseconds.
        reflection_cost: millionths of the currency that the model's price is in.
        model_url: of a model's OpenAI-compatible address, up to `/v1`; unset, none is asked.
        model_name: as the address knows it.
        model_key_file: whose first line is its key.
        model_key_variable: name of the environment variable that holds its key.
        model_timeout_ms: for a whole answer, milliseconds.
        model_output_tokens: that an answer may have.
        model_price: of 1,000 tokens, millionths of a currency.
        critic: whether the model is asked about calls: never, heeded if it answers, or required.
        critic_deadline_ms: how long a verdict waits for its answer, milliseconds.
        gateway: whether the HTTP gateway runs beside the workers; `signals` serves no host.
        gateway_port: of 127.0.0.1; 0 for one that is chosen once and kept.
        dashboard: whether `pmcl up` starts the dashboard beside the sidecar.
        dashboard_port: of 127.0.0.1; 0 for any that is free.
        log_level: of the structured log on standard error.
    """

    state_dir: Path = msgspec.field(default_factory=_default_state_dir)
    rules: Path | None = None
    server_url: str | None = None
    server_monitor_url: str | None = None
    lease_ttl_ms: Positive = limits.LEASE_TTL_MS
    heartbeat_ms: Positive = limits.HEARTBEAT_MS
    queue_cell: Positive = limits.CELL_QUEUE
    queue_host: Positive = limits.HOST_QUEUE
    stream_slots: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 256
    approval_ttl_ms: Annotated[int, msgspec.Meta(ge=1, le=limits.APPROVAL_TTL_MAX_MS)] = (
        limits.APPROVAL_TTL_MS
    )
    reflection: Literal["on", "off"] = "on"
    reflection_idle_ms: Annotated[int, msgspec.Meta(ge=1_000)] = limits.IDLE_MS
    reflection_backoff_ms: Positive = 30_000
    reflection_open_ms: Positive = 900_000
    reflection_window_ms: Positive = 3_600_000
    reflection_tokens: Whole = 50_000
    reflection_time_ms: Positive = 600_000
    reflection_cost: Whole = 0
    model_url: Annotated[str, msgspec.Meta(pattern="^https?://")] | None = None
    model_name: Annotated[str, msgspec.Meta(min_length=1, max_length=128)] = "default"
    model_key_file: Path | None = None
    model_key_variable: str | None = None
    model_timeout_ms: Positive = 60_000
    model_output_tokens: Positive = 512
    model_price: Whole = 0
    critic: Literal["off", "optional", "required"] = "off"
    critic_deadline_ms: Positive = 1_000
    gateway: Literal["on", "signals", "off"] = "on"
    gateway_port: Annotated[int, msgspec.Meta(ge=0, le=65535)] = 0
    dashboard: Literal["on", "off"] = "off"
    dashboard_port: Annotated[int, msgspec.Meta(ge=0, le=65535)] = 0
    log_level: Literal["debug", "info", "warning", "error"] = "warning"

    def __post_init__(self) -> None:
        if self.heartbeat_ms >= self.lease_ttl_ms:
            limit = f"below lease_ttl_ms ({self.lease_ttl_ms})"
            raise ValueError(f"heartbeat_ms is {self.heartbeat_ms}, allowed: {limit}")
        if (self.server_url is None) != (self.server_monitor_url is None):
            raise ValueError("server_url and server_monitor_url go together: one is missing")
        if self.model_key_file is not None and self.model_key_variable is not None:
            raise ValueError("model_key_file and model_key_variable: one of them, not both")
        if self.critic != "off" and self.model_url is None:
            raise ValueError(f"critic is {self.critic}, allowed without model_url: off")

    @property
    def ledger_path(self) -> Path:
        """The ledger's SQLite file."""
        return self.state_dir / "ledger.sqlite"


def load_settings(
    environment: Mapping[str, str] = os.environ, overrides: Mapping[str, Any] | None = None
) -> Settings:
    """Return the settings; `PMCL_CONFIG` names the file, else `pmcl.toml` in the state directory.

    Args:
        environment: where `PMCL_*` are looked up.
        overrides: what the command line gave; `None` values are left out.

    Raises:
        SettingsError: an unknown setting, or a value that does not fit.
    """
    given = {name: value for name, value in (overrides or {}).items() if value is not None}
    found = {
        name: environment[variable]
        for name in Settings.__struct_fields__
        if (variable := f"PMCL_{name.upper()}") in environment
    }
    state_dir = given.get("state_dir") or found.get("state_dir") or _default_state_dir()
    named = environment.get("PMCL_CONFIG")
    path = Path(os.path.expanduser(named or os.path.join(state_dir, "pmcl.toml")))
    values = {**_read(path, required=named is not None), **found, **given}
    try:
        return msgspec.convert(values, Settings, strict=False, dec_hook=_path)
    except msgspec.ValidationError as error:
        raise SettingsError(f"settings ({path} and PMCL_*): {_told(error, values)}") from error


def _told(error: msgspec.ValidationError, values: Mapping[str, Any]) -> str:
    """Return the setting, its value and the limit, as far as the error is about one setting."""
    found = Mismatch.of(error)
    place = _setting.match(found.path)
    if place is None:
        return found.limit if found.unknown is None else f"{found.unknown} is no setting"
    name, limit = place[1], found.limit
    hint = get_type_hints(Settings)[name]
    if get_origin(hint) is Literal:
        limit = "one of " + ", ".join(get_args(hint))
    return f"{name} is {values[name]!r}, allowed: {limit}"


def _path(kind: type, value: Any) -> Any:
    if kind is not Path:
        raise NotImplementedError(kind)
    if not value:
        raise ValueError("a file or folder, or unset")
    try:
        return Path(value).expanduser()
    except RuntimeError as error:
        raise ValueError("a folder of somebody's home") from error


def _read(path: Path, *, required: bool) -> dict[str, Any]:
    if not required and not path.exists():
        return {}
    try:
        return tomllib.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise SettingsError(f"settings file {path}: {error}") from error
