"""One chat server that speaks the OpenAI API: found, started, asked; its quirks normalised to deltas."""

from .client import ChatClient
from .delta import Delta, ToolCallDelta

__all__ = ["ChatClient", "Delta", "ToolCallDelta"]
