# The sidecar with its embedded nats-server; docs/ops/deploy.md says how to run it.
ARG PYTHON=3.11

FROM python:${PYTHON}-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /build
COPY . .
RUN python -m venv /opt/pmcl
RUN /opt/pmcl/bin/pip install --quiet .

FROM python:${PYTHON}-slim-bookworm
# With a name, for the record says which local user an operator was.
RUN groupadd --gid 10001 pmcl \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /var/lib/pmcl \
        --shell /usr/sbin/nologin pmcl
# A new volume takes owner and mode from the folder that it is mounted on.
RUN install -d -m 0700 -o 10001 -g 10001 /var/lib/pmcl /var/backups/pmcl
COPY --from=build /opt/pmcl /opt/pmcl
ENV PATH=/opt/pmcl/bin:$PATH \
    PMCL_STATE_DIR=/var/lib/pmcl \
    PYTHONDONTWRITEBYTECODE=1
# By number, so that an orchestrator can see that it is not root.
USER 10001:10001
WORKDIR /var/lib/pmcl
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 \
    CMD ["python", "-I", "-c", "import json, sys; from http.client import HTTPConnection; at = json.load(open('/var/lib/pmcl/gateway.json'))['url']; gateway = HTTPConnection(at.removeprefix('http://'), timeout=5); gateway.request('GET', '/v1/ready'); sys.exit(gateway.getresponse().status != 200)"]
ENTRYPOINT ["pmcl"]
CMD ["up"]
