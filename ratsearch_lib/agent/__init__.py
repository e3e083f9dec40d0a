"""An agent: events (what a run tells its caller) · loop · step (one request) · toolbox · guided."""

from .loop import Agent

__all__ = ["Agent"]
