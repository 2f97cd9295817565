"""HTTP for hosts that speak nothing else: loopback, authenticated, bounded; it grants nothing.

Importing it loads starlette and uvicorn, so whoever may do without imports it late.
"""

from pmcl.hosts.gateway.address import GatewayError
from pmcl.hosts.gateway.config import GatewayConfig
from pmcl.hosts.gateway.defects import where
from pmcl.hosts.gateway.http_server import quiet_server
from pmcl.hosts.gateway.openapi import openapi
from pmcl.hosts.gateway.server import run_gateway

__all__ = ["GatewayConfig", "GatewayError", "openapi", "quiet_server", "run_gateway", "where"]
