"""An MCP server with the checkpoint's verbs as tools, for agents that ask by themselves.

Importing it loads no MCP library; `serve_mcp` does, which takes a while.
"""

from pmcl.hosts.mcp.server import serve_mcp
from pmcl.hosts.mcp.verbs import VERBS, Verb

__all__ = ["VERBS", "Verb", "serve_mcp"]
