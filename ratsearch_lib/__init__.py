"""ratsearch: ask an offline Wikipedia, or any ZIM archive, with any model that speaks the OpenAI chat API.

    library = Library.open("wikipedia.zim")
    agent = Agent(ChatClient("http://localhost:8080/v1"), [library.read_article])
    print(agent.ask("What is the largest mammal in North America?").answer)

Everything below is imported when it is first used, so that importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for editors and type checkers, who do not run the table below
    # ruff: noqa: F401
    from .agent.events import (
        ContextTrimmed,
        Event,
        Evidence,
        Generated,
        Notice,
        Prefill,
        ReasoningDelta,
        RunFinished,
        TextDelta,
        TextWasReasoning,
        ToolCall,
        ToolResult,
        Usage,
    )
    from .agent.loop import Agent
    from .agent.replay import ReplayClient
    from .agent.subagents import asubagent, asummarise, subagent, summarise
    from .agent.transcript import Transcript
    from .archive import Archive, Entry
    from .article import Article, Section
    from .chat.client import ChatClient
    from .chat.local import LocalServer
    from .documents import DocumentStore
    from .errors import (
        ArchiveError,
        ArticleError,
        AuthenticationFailed,
        BadReply,
        ChatError,
        ContextOverflow,
        DocumentNotFound,
        DocumentStoreError,
        DownloadError,
        EntryNotFound,
        ModelError,
        ModelNotFound,
        RatsearchError,
        ServerLoading,
        ServerUnreachable,
        TitleIndexError,
        TranscriptError,
    )
    from .evidence import SentenceEvidence, check
    from .kiwix import Catalogue, CatalogueEntry
    from .libraries import Libraries
    from .library import Library
    from .text import Passage
    from .titles import TitleIndex, TitleMatch
    from .tools import ReadResult, ToolContext

__version__ = "0.1.0"

_MODULES = {
    "agent.events": (
        "ContextTrimmed", "Event", "Evidence", "Generated", "Notice", "Prefill", "ReasoningDelta", "RunFinished",
        "TextDelta", "TextWasReasoning", "ToolCall", "ToolResult", "Usage",
    ),
    "agent.loop": ("Agent",),
    "agent.replay": ("ReplayClient",),
    "agent.subagents": ("asubagent", "asummarise", "subagent", "summarise"),
    "agent.transcript": ("Transcript",),
    "archive": ("Archive", "Entry"),
    "article": ("Article", "Section"),
    "chat.client": ("ChatClient",),
    "chat.local": ("LocalServer",),
    "documents": ("DocumentStore",),
    "errors": (
        "ArchiveError", "ArticleError", "AuthenticationFailed", "BadReply", "ChatError", "ContextOverflow",
        "DocumentNotFound", "DocumentStoreError", "DownloadError", "EntryNotFound", "ModelError", "ModelNotFound",
        "RatsearchError", "ServerLoading", "ServerUnreachable", "TitleIndexError", "TranscriptError",
    ),
    "evidence": ("SentenceEvidence", "check"),
    "kiwix": ("Catalogue", "CatalogueEntry"),
    "libraries": ("Libraries",),
    "library": ("Library",),
    "text": ("Passage",),
    "titles": ("TitleIndex", "TitleMatch"),
    "tools": ("ReadResult", "ToolContext"),
}  # fmt: skip
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
