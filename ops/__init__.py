"""The operator's room: settings, the cell, and the `pmcl` command."""
