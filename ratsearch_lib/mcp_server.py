"""The library's tools over the Model Context Protocol, for Claude Desktop, LM Studio, Open WebUI and editors.

The same `read_article` that an agent has. No question comes with a call, so a result is the article's beginning and its
outline within a budget, and ``Title#Section`` goes on. See https://modelcontextprotocol.io/specification.
"""

from __future__ import annotations

import hmac
import json
import logging
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from .errors import EntryNotFound, RatsearchError
from .library import READ_ARTICLE, SEARCH_DOCUMENTS, Library
from .tools import ToolContext

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server

log = logging.getLogger(__name__)

MAX_TOKENS = 2000  # of a result
INSTRUCTIONS = "Facts stand in an offline archive: read_article(title). Go on in one with read_article(Title#Section)."
QUESTION = {"type": "string", "description": "what you want to know"}
PLACE = "/mcp"  # of the HTTP address
LOOK_EVERY_S = 0.5
SCHEME = "zim://"
PLAIN = "text/plain"


@contextmanager
def quick_import() -> Iterator[None]:
    """Import the SDK in four fifths of the time: the validators of its 500 kinds of messages, of which few are ever
    needed, are built when they are used, and nothing looks for garbage meanwhile."""
    import gc

    from pydantic import BaseModel

    had = BaseModel.model_config.get("defer_build", False)
    collecting = gc.isenabled()
    BaseModel.model_config["defer_build"] = True
    gc.disable()
    try:
        yield
    finally:
        BaseModel.model_config["defer_build"] = had
        if collecting:
            gc.enable()


class ToolServer:
    """Answers MCP requests from a library, which may still be opening.

    library        the library, or what will be it; an error in opening it is told to whoever calls
    has_documents  whether it will have documents to search
    max_tokens     the budget of a result
    with_question  take a question with each call, which chooses what is shown of an article
    """

    def __init__(
        self,
        library: Future[Library],
        *,
        has_documents: bool = False,
        max_tokens: int = MAX_TOKENS,
        with_question: bool = False,
    ):
        self._opening = library
        self._max_tokens = max_tokens
        self._schemas = {"read_article": READ_ARTICLE["function"]}
        if has_documents:
            self._schemas["search_documents"] = SEARCH_DOCUMENTS["function"]
        if with_question:
            self._schemas["read_article"] = _with_question(READ_ARTICLE["function"])

    def server(self) -> Server:
        """The SDK's server, to be run over any transport."""
        with quick_import():
            from mcp.server.lowlevel import Server

        from . import __version__

        return Server(
            "ratsearch",
            version=__version__,
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
        )

    # Tools

    async def _list_tools(self, ctx: ServerRequestContext, params: Any):
        from mcp_types import ListToolsResult, Tool

        tools = [
            Tool(name=name, description=each["description"], input_schema=each["parameters"])
            for name, each in self._schemas.items()
        ]
        return ListToolsResult(tools=tools)

    async def _call_tool(self, ctx: ServerRequestContext, params: Any):
        from mcp_types import CallToolResult, TextContent

        is_error = False
        try:
            arguments = self._checked(params.name, params.arguments or {})
            library = await self._library(ctx)
            if params.name == "search_documents":
                text = await _in_thread(library.search_documents, arguments["query"])
            else:
                text = await self._read(library, arguments["title"], arguments.get("question", ""), ctx)
        except _Refused as refusal:
            text, is_error = str(refusal), True
        except RatsearchError as error:
            text, is_error = f"Error: {error}", True
        return CallToolResult(content=[TextContent(text=_sendable(text))], is_error=is_error)

    def _checked(self, name: str, arguments: dict[str, Any]) -> dict[str, str]:
        """The arguments as text; `_Refused`, with what to call instead, where they are not what the schema says."""
        schema = self._schemas.get(name)
        if schema is None:
            raise _Refused(f'There is no tool "{name[:80]}". There is: {", ".join(self._schemas)}.')
        known, required = schema["parameters"]["properties"], schema["parameters"]["required"]
        example = json.dumps(dict.fromkeys(required, "…"), ensure_ascii=False)
        wrong = next((each for each in arguments if each not in known), None)
        if wrong is not None:
            raise _Refused(f'{name} has no parameter "{wrong[:80]}". Call {name} with {example}.')
        texts = {}
        for each, value in arguments.items():
            if isinstance(value, bool) or not isinstance(value, str | int | float):
                raise _Refused(f'"{each}" must be a text. Call {name} with {example}.')
            texts[each] = str(value)
        missing = next((each for each in required if not texts.get(each, "").strip()), None)
        if missing is not None:
            raise _Refused(f'"{missing}" is missing. Call {name} with {example}.')
        return texts

    async def _read(self, library: Library, title: str, question: str, ctx: ServerRequestContext) -> str:
        context = ToolContext(question, max_tokens=self._max_tokens)
        result = await _in_thread(library.read, title, context)
        if result.title is not None or library.index_progress is None:
            return result.text
        if not (ctx.meta and "progress_token" in ctx.meta):  # who is shown no progress would think that this hangs
            return f"{result.text}\n\n[The titles are still being indexed: ask again later for nearer ones.]"
        await _waited(lambda: library.index_progress, "The titles are being indexed, once", ctx)
        return (await _in_thread(library.read, title, context)).text

    async def _library(self, ctx: ServerRequestContext) -> Library:
        """The library, once it is open."""
        opening = self._opening
        await _waited(lambda: None if opening.done() else (0, None), "The library is being opened", ctx)
        return opening.result()

    # Resources: the archives, and the articles in them

    async def _list_resources(self, ctx: ServerRequestContext, params: Any):
        from mcp_types import ListResourcesResult, Resource

        found = []
        with suppress(RatsearchError):  # which a call of a tool tells
            for archive in (await self._library(ctx)).archives:
                about = ", ".join(filter(None, (archive.language, archive.metadata.get("Date", "").strip())))
                uri, file = SCHEME + quote(archive.path.name), archive.path.name
                found.append(Resource(uri=uri, name=file, title=archive.name, description=about, mime_type=PLAIN))
        return ListResourcesResult(resources=found)

    async def _list_templates(self, ctx: ServerRequestContext, params: Any):
        from mcp_types import ListResourceTemplatesResult, ResourceTemplate

        article = ResourceTemplate(uri_template=f"{SCHEME}{{archive}}/{{+path}}", name="article", mime_type=PLAIN)
        return ListResourceTemplatesResult(resource_templates=[article])

    async def _read_resource(self, ctx: ServerRequestContext, params: Any):
        from mcp.shared.exceptions import MCPError
        from mcp_types import INVALID_PARAMS, ReadResourceResult, TextResourceContents

        try:
            text = await _in_thread(_resource, await self._library(ctx), params.uri)
        except RatsearchError as error:
            raise MCPError(INVALID_PARAMS, str(error)) from error
        return ReadResourceResult(
            contents=[TextResourceContents(uri=params.uri, mime_type=PLAIN, text=_sendable(text))]
        )


class _Refused(Exception):
    """A call that is not what the schema says."""


def _with_question(schema: dict[str, Any]) -> dict[str, Any]:
    parameters = schema["parameters"]
    return {**schema, "parameters": {**parameters, "properties": {**parameters["properties"], "question": QUESTION}}}


def _resource(library: Library, uri: str) -> str:
    """What an archive says of itself, or the text of an article in it. EntryNotFound where there is neither."""
    file, _, path = uri.removeprefix(SCHEME).partition("/")
    archive = next((each for each in library.archives if each.path.name == unquote(file)), None)
    if archive is None or not uri.startswith(SCHEME):
        names = ", ".join(SCHEME + quote(each.path.name) for each in library.archives)
        raise EntryNotFound(f"There is no resource {uri[:200]}. There is: {names}.")
    if path:
        return library.article(archive.entry(unquote(path))).text()
    facts = {**archive.metadata, "Articles": f"{archive.article_count:,}"}
    return "\n".join(f"{key}: {' '.join(value.split())}" for key, value in facts.items() if len(value) < 500)


async def _waited(progress: Callable[[], Any], message: str, ctx: ServerRequestContext) -> None:
    """Return when `progress()` is None; until then the client is told how far it is. Ends where the client cancels."""
    import anyio

    waited_s = 0.0
    while (state := progress()) is not None:
        done, total = state
        if total:
            await ctx.session.report_progress(done, total, message)
        else:
            await ctx.session.report_progress(waited_s, None, message)  # progress has to grow
        await anyio.sleep(LOOK_EVERY_S)
        waited_s += LOOK_EVERY_S


async def _in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    import anyio.to_thread

    return await anyio.to_thread.run_sync(partial(function, *arguments), abandon_on_cancel=True)


def _sendable(text: str) -> str:
    """Text without half characters, which JSON in UTF-8 cannot carry."""
    return text.encode("utf-8", "replace").decode("utf-8")


# Transports


def serve_stdio(tools: ToolServer) -> None:
    """Serve one client over standard input and output, until it closes them."""
    import anyio

    server = tools.server()
    from mcp.server.stdio import stdio_server

    async def serve() -> None:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    anyio.run(serve)


def http_app(tools: ToolServer, token: str) -> Callable[..., Awaitable[None]]:
    """An ASGI application that serves whoever knows the token, under `PLACE`; only by a name of this machine, so that
    no web page can reach it through a name of its own."""
    app = tools.server().streamable_http_app(streamable_http_path=PLACE, host="127.0.0.1")
    wanted = f"Bearer {token}".encode()

    async def guarded(scope: dict[str, Any], receive: Callable, send: Callable) -> None:
        if scope["type"] == "http":
            given = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
            if not hmac.compare_digest(given, wanted):
                await _refuse(send)
                return
        await app(scope, receive, send)

    return guarded


async def _refuse(send: Callable) -> None:
    body = json.dumps({"error": "Give the token: Authorization: Bearer TOKEN."}).encode()
    headers = [(b"content-type", b"application/json"), (b"www-authenticate", b"Bearer")]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": body})
