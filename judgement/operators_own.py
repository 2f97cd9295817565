"""What belongs to the operator: files and commands by which the sidecar could be got round.

Whoever works as the operator's user can reach them all. So an agent is kept from them, whatever
anybody says: one that grants its own approval, reads a key or takes its hook out has no sidecar.
Source: SPEC A5, A6; `pmcl --help`; the manuals of the three agents.
"""

from typing import Final

__all__ = [
    "BYPASSES",
    "DECISIONS",
    "HOOK_FOLDERS",
    "HOOK_SETTINGS",
    "KEYS",
    "MODULES",
    "MOVED_BY",
    "STATE",
    "STOPS",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ALWAYS: Final[frozenset[str]] = frozenset()

STATE: Final = _words(
    "credentials gateway.json gateway.sock hosts keys ledger.key ledger.sqlite ledger.sqlite-shm "
    "ledger.sqlite-wal nats pmcl.toml sidecar.lock"
)
"""What lies in the state folder; nobody else reads or changes it."""
KEYS: Final = _words("admin.nk operator.nk relay.nk worker.nk")
"""Keys, wherever they lie."""
HOOK_SETTINGS: Final = _words(
    ".claude/settings.json .claude/settings.local.json .codex/config.toml .codex/hooks.json "
    ".gemini/settings.json claude-code/managed-settings.json"
)
"""Settings that hold an agent's hook, or switch hooks off; they may be read."""
HOOK_FOLDERS: Final = _words(".claude .codex .gemini")

DECISIONS: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(_words("backup dashboard erase rebuild replay restore resume up"), _ALWAYS),
    "approvals": _words("deny grant"),
    "deadletters": _words("redrive"),
    "evolution": _words("approve reject rollback"),
    "hook": _words("install uninstall"),
    "host": _words("add remove"),
    "identity": _words("set"),
    "memories": _words("retract"),
    "outbox": _words("park release replay"),
}
"""Commands of `pmcl` that decide, and their second words; none where any of them does."""
MODULES: Final = _words("pmcl pmcl.ops pmcl.ops.cli")
"""What the program is called, also behind `python -m`."""

STOPS: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(_words("fuser kill killall pkill skill taskkill"), _ALWAYS),
    **dict.fromkeys(_words("pip pip3 pipx poetry uv"), _words("remove uninstall")),
    **dict.fromkeys(
        _words("docker launchctl podman service supervisorctl systemctl"),
        _words("bootout disable down kill mask pause remove restart rm stop unload"),
    ),
}
"""Commands that end or remove the program that they name, and the words with which they do."""

BYPASSES: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(
        _words("claude claude-code"),
        _words(
            "--allow-dangerously-skip-permissions --bare --dangerously-skip-permissions "
            "--setting-sources --settings bypassPermissions"
        ),
    ),
    "codex": _words(
        "--dangerously-bypass-approvals-and-sandbox --ignore-user-config --yolo codex_hooks "
        "features.codex_hooks features.hooks hooks"
    ),
    **dict.fromkeys(_words("gemini gemini-cli"), _words("--yolo -y hooks yolo")),
}
"""Agents, and the words with which they ask nobody, or start without their settings or hooks."""
MOVED_BY: Final = _words("CLAUDE_CONFIG_DIR CODEX_HOME GEMINI_CLI_HOME")
"""Variables by which an agent reads other settings than those with the hook."""
