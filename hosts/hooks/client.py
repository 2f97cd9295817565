"""The process of one hook: it hands an agent's event to the sidecar and prints what comes back.

Whatever goes wrong here, the tool does not run. It is started by path with `python -I -S` before
every call of a tool, so it imports only what the interpreter has built in; `json` costs as much as
the start of the interpreter and is loaded only where there is more to say than "go on".
Source: SPEC G3; DESIGN section 4.
"""

import _signal  # type: ignore[import-not-found] # has no stub; `signal` itself loads `enum`
import _socket
import os
import sys

__all__ = ["main"]

DEADLINE_S = 5.0
EVENT_MAX_BYTES = 4 * 1024 * 1024
_FILE_MAX_BYTES = 64 * 1024
_ANSWER_MAX_BYTES = 1024 * 1024
_NAME_MAX_BYTES = 100
_WRONG_KEY = "401"
_NOT_ACCEPTED = (
    "the sidecar does not accept the key of this hook's host: it was removed, or added again;"
    " `pmcl host list` tells, `pmcl hook install` takes the new one"
)
_NOTHING_TO_SAY = b'{"exit_code":0,"stdout":"","stderr":""}'

_AGENTS = ("claude-code", "codex", "gemini")
_AFTER_TOOL = ("PostToolUse", "AfterTool")
_NEVER_BLOCKED = (
    "AfterAgent",
    "BeforeAgent",
    "PostToolUseFailure",
    "SessionEnd",
    "SessionStart",
    "Stop",
    "UserPromptSubmit",
)


class HookFailedError(Exception):
    """The sidecar was not asked, or did not answer; the message says why, in one line."""


def main(arguments: list[str]) -> int:
    """Answer the event on standard input; return the exit code.

    0 is the sidecar's answer, 1 tells that something other than a tool was not recorded, 2 blocks.

    Args:
        arguments: the agent, its host's credentials file, the file that names the gateway.
    """
    event = b""
    agent = arguments[0] if arguments else ""
    try:
        _signal.signal(_signal.SIGALRM, _out_of_time)
        _signal.setitimer(_signal.ITIMER_REAL, DEADLINE_S)
        event = sys.stdin.buffer.read(EVENT_MAX_BYTES + 1)
        answer = _ask(arguments, event)
        code, out, told = _read_answer(answer)
        _signal.setitimer(_signal.ITIMER_REAL, 0)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the tool must not run
        _signal.setitimer(_signal.ITIMER_REAL, 0)
        code, out, told = _failed(agent, event, error)
    _write(1, out)
    _write(2, told)
    return code


def _out_of_time(number: int, frame: object) -> None:
    raise HookFailedError(f"no answer within {DEADLINE_S:g} s")


def _ask(arguments: list[str], event: bytes) -> bytes:
    """Return the body of the gateway's answer."""
    if len(arguments) != 3 or arguments[0] not in _AGENTS:
        raise HookFailedError("usage: client.py claude-code|codex|gemini CREDENTIALS GATEWAY")
    if len(event) > EVENT_MAX_BYTES:
        raise HookFailedError(f"the event has more than {EVENT_MAX_BYTES} bytes")
    agent, credentials, gateway = arguments
    seed = _member(credentials, "seed")
    port = _port(_member(gateway, "url"))
    file = _member(gateway, "socket")
    head = (
        f"POST /v1/hooks/{agent} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        f"Authorization: Bearer {seed}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(event)}\r\nConnection: close\r\n\r\n"
    )
    return _body(_exchange(file, head.encode() + event))


def _member(path: str, name: str) -> str:
    """Return one text of a private file that holds a flat JSON object without escapes."""
    text = _private(path)
    parts = text.split('"')
    for at in range(1, len(parts) - 2, 2):
        if parts[at] == name and parts[at + 1].strip() == ":" and "\\" not in text:
            return parts[at + 2]
    raise HookFailedError(f"{path} has no {name}")


def _private(path: str) -> str:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            if os.fstat(descriptor).st_mode & 0o077:
                raise HookFailedError(f"{path} is open to others: chmod 600 it")
            return os.read(descriptor, _FILE_MAX_BYTES).decode()
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:
        raise HookFailedError(f"{path} cannot be read: {_why(error)}") from error


def _port(url: str) -> int:
    start, _, port = url.rpartition(":")
    if start != "http://127.0.0.1" or not port.isdecimal():
        raise HookFailedError("the gateway's address is not http://127.0.0.1:PORT")
    return int(port)


def _exchange(file: str, request: bytes) -> bytes:
    """Return all that the gateway sends until it closes; the alarm bounds every wait."""
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        if len(os.fsencode(file)) > _NAME_MAX_BYTES:  # too long for a socket's address
            folder, _, file = file.rpartition("/")
            os.chdir(folder)
        connection.connect(file)
        connection.sendall(request)
        answer = b""
        while part := connection.recv(65536):
            answer += part
            if len(answer) > _ANSWER_MAX_BYTES:
                raise HookFailedError(f"the answer has more than {_ANSWER_MAX_BYTES} bytes")
        return answer
    except (ConnectionRefusedError, FileNotFoundError) as error:
        raise HookFailedError("no sidecar runs: start it with `pmcl up`") from error
    except OSError as error:
        raise HookFailedError(f"the sidecar does not answer: {_why(error)}") from error
    finally:
        connection.close()


def _body(answer: bytes) -> bytes:
    """Return the whole body of a good answer."""
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *fields = head.split(b"\r\n")
    code = status.split(b" ")[1:2]
    if not status.startswith(b"HTTP/1.") or code != [b"200"]:
        shown = b"".join(code).decode("ascii", "replace")[:3]
        if shown == _WRONG_KEY:
            raise HookFailedError(_NOT_ACCEPTED)
        raise HookFailedError(f"the gateway answered {shown or 'nothing'}")
    for field in fields:
        name, _, value = field.partition(b":")
        if name.lower() == b"content-length" and value.strip() == b"%d" % len(body):
            return body
    raise HookFailedError("the gateway's answer was cut off")


def _read_answer(body: bytes) -> tuple[int, str, str]:
    """Return exit code, standard output and standard error that the answer asks for."""
    if body == _NOTHING_TO_SAY:
        return 0, "", ""
    import json

    try:
        answer = json.loads(body)
        code, out, told = answer["exit_code"], answer["stdout"], answer["stderr"]
    except (ValueError, TypeError, KeyError) as error:
        raise HookFailedError("the gateway's answer has not its form") from error
    if code not in (0, 1, 2) or not isinstance(out, str) or not isinstance(told, str):
        raise HookFailedError("the gateway's answer has not its form")
    if code == 2 and not told.strip():
        raise HookFailedError("the gateway's answer gives no reason")
    return code, out, told


def _failed(agent: str, event: bytes, error: BaseException) -> tuple[int, str, str]:
    """Return what keeps a tool from running, or its output from the model, whoever asks.

    Exit code 2 with a reason blocks for every agent, if nothing is printed. Claude Code shows an
    output all the same; there it is replaced.
    """
    import json

    reason = _why(error)
    try:
        name = json.loads(event)["hook_event_name"]
    except (ValueError, TypeError, KeyError, RecursionError):
        name = ""
    if name in _NEVER_BLOCKED:
        return 1, "", f"pmcl: this was not recorded: {reason}\n"
    if name not in _AFTER_TOOL:
        return 2, "", f"pmcl: blocked, nobody checked this call: {reason}\n"
    told = f"pmcl: the output is withheld, it could not be recorded: {reason}"
    if agent != "claude-code":
        return 2, "", told + "\n"
    specific = {"hookEventName": name, "updatedToolOutput": told}
    return 0, json.dumps({"decision": "block", "reason": told, "hookSpecificOutput": specific}), ""


def _why(error: BaseException) -> str:
    if isinstance(error, HookFailedError):
        return str(error)
    return getattr(error, "strerror", None) or type(error).__name__


def _write(descriptor: int, text: str) -> None:
    data = text.encode("utf-8", "replace")
    while data:
        data = data[os.write(descriptor, data) :]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
