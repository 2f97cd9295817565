"""`python -m pmcl.ops` is `pmcl`."""

from pmcl.ops.cli import main

main()
