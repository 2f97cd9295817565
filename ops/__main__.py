"""`python -m pmcl.ops` is `pmcl`."""

from pmcl.ops.start import main

main()
