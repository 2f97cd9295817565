"""`pmcl up` sends its spans where the standard variables say, and needs nobody to take them."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from queue import Queue

import httpx
import msgspec
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from pmcl.ops.host_add import register_hosts
from pmcl.ops.settings import Settings
from tests.integration.gateway.wire import ANYTHING

_WITHIN_S = 30


class Collector:
    """Takes spans over HTTP."""

    def __init__(self) -> None:
        self.taken: Queue[ExportTraceServiceRequest] = Queue()
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                collector.taken.put(ExportTraceServiceRequest.FromString(body))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    @contextmanager
    def serving(self) -> Iterator["Collector"]:
        thread = threading.Thread(target=self._server.serve_forever)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            thread.join()
            self._server.server_close()

    def names(self) -> dict[str, set[str]]:
        """The names of all spans, by service."""
        found: dict[str, set[str]] = {}
        while not self.taken.empty():
            for resource in self.taken.get().resource_spans:
                told = {each.key: each.value.string_value for each in resource.resource.attributes}
                names = found.setdefault(told["service.name"], set())
                names |= {span.name for scope in resource.scope_spans for span in scope.spans}
        return found


def one_lease(state_dir: Path, **variables: str) -> str:
    """Run a sidecar in which one lease begins, and return its log."""
    (known,) = register_hosts(Settings(state_dir=state_dir), ["s"], "agent")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    environment = {**clean, **variables, "PMCL_STATE_DIR": str(state_dir)}
    command = [sys.executable, "-m", "pmcl.ops", "up", "--json"]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        url = msgspec.json.decode(process.stdout.readline())["gateway"]
        key = {"authorization": f"Bearer {known.seed}"}
        httpx.post(f"{url}/v1/lease", json={"authority": ANYTHING}, headers=key).raise_for_status()
        process.terminate()
        _, log = process.communicate(timeout=_WITHIN_S)
    assert process.returncode == 0, log
    return log


def test_spans_go_where_the_variables_say(tmp_path: Path) -> None:
    with Collector().serving() as collector:
        log = one_lease(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
        names = collector.names()
    assert names.keys() == {"pmcl"}
    assert {"POST /v1/lease", "pmcl.lease", "pmcl.decide", "pmcl.relay"} <= names["pmcl"]
    assert not log


def test_service_has_the_name_that_it_was_given(tmp_path: Path) -> None:
    with Collector().serving() as collector:
        variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_SERVICE_NAME": "cell-7"}
        one_lease(tmp_path, **variables)
        assert collector.names().keys() == {"cell-7"}


def test_collector_that_is_away_holds_nothing_up(tmp_path: Path) -> None:
    gone = "http://127.0.0.1:9"
    log = one_lease(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=gone)
    events = {msgspec.json.decode(line)["event"] for line in log.splitlines()}
    assert events <= {"traces.export_failed", "traces.not_flushed"}
    assert events
