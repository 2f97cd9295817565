"""The operator's page in the browser: what the commands show, live, and what they may do.

It reads by the functions of the commands and decides nothing; an action goes the way of its
command, under the operator's identity. Importing it loads starlette, jinja2 and the gateway.
"""

from pmcl.ops.dashboard.server import DashboardError, run_dashboard

__all__ = ["DashboardError", "run_dashboard"]
