"""What belongs to the operator: files and commands by which the sidecar could be got round.

Whoever works as the operator's user can reach them all. So an agent is kept from them, whatever
anybody says: one that grants its own approval, reads a key or takes its hook out has no sidecar.
Source: SPEC A5, A6; `pmcl --help`; the manuals of the three agents.
"""

from typing import Final

from pmcl.judgement.word_set import word_set

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

_ALWAYS: Final[frozenset[str]] = frozenset()

STATE: Final = word_set(
    "credentials gateway.json gateway.sock hosts keys ledger.key ledger.sqlite ledger.sqlite-shm "
    "ledger.sqlite-wal nats pmcl.toml sidecar.lock"
)
"""What lies in the state folder; nobody else reads or changes it."""
KEYS: Final = word_set("admin.nk operator.nk relay.nk worker.nk")
"""Keys, wherever they lie."""
HOOK_SETTINGS: Final = word_set(
    ".claude/settings.json .claude/settings.local.json .codex/config.toml .codex/hooks.json "
    ".gemini/settings.json claude-code/managed-settings.json"
)
"""Settings that hold an agent's hook, or switch hooks off; they may be read."""
HOOK_FOLDERS: Final = word_set(".claude .codex .gemini")

DECISIONS: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(word_set("backup dashboard erase rebuild replay restore resume up"), _ALWAYS),
    "approvals": word_set("deny grant"),
    "deadletters": word_set("redrive"),
    "evolution": word_set("approve reject rollback"),
    "hook": word_set("install uninstall"),
    "host": word_set("add remove"),
    "identity": word_set("set"),
    "memories": word_set("retract"),
    "outbox": word_set("park release replay"),
}
"""Commands of `pmcl` that decide, and their second words; none where any of them does."""
MODULES: Final = word_set("pmcl pmcl.ops pmcl.ops.cli pmcl.ops.start")
"""What the program is called, also behind `python -m`."""

STOPS: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(word_set("fuser kill killall pkill skill taskkill"), _ALWAYS),
    **dict.fromkeys(word_set("pip pip3 pipx poetry uv"), word_set("remove uninstall")),
    **dict.fromkeys(
        word_set("docker launchctl podman service supervisorctl systemctl"),
        word_set("bootout disable down kill mask pause remove restart rm stop unload"),
    ),
}
"""Commands that end or remove the program that they name, and the words with which they do."""

BYPASSES: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(
        word_set("claude claude-code"),
        word_set(
            "--allow-dangerously-skip-permissions --bare --dangerously-skip-permissions "
            "--setting-sources --settings bypassPermissions"
        ),
    ),
    "codex": word_set(
        "--dangerously-bypass-approvals-and-sandbox --ignore-user-config --yolo codex_hooks "
        "features.codex_hooks features.hooks hooks"
    ),
    **dict.fromkeys(word_set("gemini gemini-cli"), word_set("--yolo -y hooks yolo")),
}
"""Agents, and the words with which they ask nobody, or start without their settings or hooks."""
MOVED_BY: Final = word_set("CLAUDE_CONFIG_DIR CODEX_HOME GEMINI_CLI_HOME HOME")
"""Variables by which an agent reads other settings than those with the hook."""
