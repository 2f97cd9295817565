"""Serves a GGUF file on a free port of the loopback; the address is the first line of output.

Run by the interpreter of `.venv-model`, not by that of the tests.
"""

import sys
import threading

import xllamacpp  # type: ignore[import-not-found]

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.hostnames = ["127.0.0.1"]
params.port = int(sys.argv[2])
params.n_ctx = 4096
params.n_parallel = 1
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 2
params.use_jinja = True
params.ui = False
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)  # noqa: T201
threading.Event().wait()
