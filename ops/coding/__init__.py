"""Coding sessions made from real projects: what an agent ordinarily does, and what texts inject."""

from pmcl.ops.coding.project import Project, ProjectError, installed_projects, read_project
from pmcl.ops.coding.report import CodingConfig, evaluate_coding, show_coding

__all__ = [
    "CodingConfig",
    "Project",
    "ProjectError",
    "evaluate_coding",
    "installed_projects",
    "read_project",
    "show_coding",
]
