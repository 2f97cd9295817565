"""The evaluation program: one report whose every line is measured, or says why it is not."""

from pmcl.ops.program.figure import Figure
from pmcl.ops.program.report import ProgramConfig, evaluate_program, show_program

__all__ = ["Figure", "ProgramConfig", "evaluate_program", "show_program"]
