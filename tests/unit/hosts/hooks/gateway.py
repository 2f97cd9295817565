"""A gateway on the loopback that answers as a test wants, with the files that name it."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

SEED = "SUAMADEUPSEEDOFAHOSTTHATISNOBODYS"

Answer = Callable[[socket.socket, bytes], None]


def body(**answer: object) -> bytes:
    return json.dumps({"exit_code": 0, "stdout": "", "stderr": "", **answer}).encode()


def http(content: bytes, status: str = "200 OK") -> bytes:
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\n"
    return f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content


def saying(answer: bytes) -> Answer:
    return lambda connection, request: connection.sendall(answer)


class Gateway:
    """Takes connections one after the other, each in a thread of its own."""

    def __init__(self, folder: Path, answer: Answer) -> None:
        self.requests: list[bytes] = []
        self.credentials = folder / "s.a.json"
        self.address = folder / "gateway.json"
        self._answer = answer
        self.port = 1
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(folder / "g.sock"))
        self._listening.listen()
        members = {"url": "nats://127.0.0.1:4222", "scope": "s", "host": "a", "seed": SEED}
        private(self.credentials, json.dumps(members, indent=2))
        members = {"url": f"http://127.0.0.1:{self.port}", "socket": str(folder / "g.sock")}
        private(self.address, json.dumps(members))

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        with connection:
            try:
                request = _read(connection)
                self.requests.append(request)
                self._answer(connection, request)
            except OSError:
                return  # the client has gone

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()


@contextmanager
def gateway(folder: Path, answer: Answer) -> Iterator[Gateway]:
    serving = Gateway(folder, answer)
    thread = threading.Thread(target=serving.serve)
    thread.start()
    try:
        yield serving
    finally:
        serving.close()
        thread.join()


def private(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o600)


def _read(connection: socket.socket) -> bytes:
    request = b""
    while b"\r\n\r\n" not in request:
        request += connection.recv(65536)
    head, _, content = request.partition(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1])
        for line in head.split(b"\r\n")
        if line.startswith(b"Content-Length")
    )
    while len(content) < length:
        part = connection.recv(65536)
        content += part
        request += part
    return request
