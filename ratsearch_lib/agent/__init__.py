"""An agent: events (what a run tells) · loop · turn · step · toolbox · guided; subagents; transcript and its replay."""

from .loop import Agent

__all__ = ["Agent"]
