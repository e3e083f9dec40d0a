"""An agent's tools: what the model is told of them, and running one of its calls."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import RatsearchError
from ..tools import ToolContext
from .events import ToolResult
from .step import Call

JSON_TYPES = {"int": "integer", "float": "number", "bool": "boolean"}  # anything else is a string


def schema(tool: Callable[..., str]) -> dict[str, Any]:
    """What the model is told of a tool: its own `schema` attribute, or name, first docstring line and parameters.

    >>> def double(number: int) -> str:
    ...     '''twice a number'''
    >>> schema(double)["function"]["parameters"]
    {'type': 'object', 'properties': {'number': {'type': 'integer'}}, 'required': ['number']}
    """
    own = getattr(tool, "schema", None)
    if own is not None:
        return own
    parameters = {name: each for name, each in inspect.signature(tool).parameters.items() if name != "context"}
    return {
        "type": "function",
        "function": {
            "name": tool.__name__,
            "description": (inspect.getdoc(tool) or "").partition("\n")[0],
            "parameters": {
                "type": "object",
                "properties": {name: {"type": _json_type(each)} for name, each in parameters.items()},
                "required": [name for name, each in parameters.items() if each.default is each.empty],
            },
        },
    }


class Toolbox:
    """The tools of one agent by name, and how their calls are run."""

    def __init__(self, tools: Sequence[Callable[..., str]]):
        self.schemas = [schema(tool) for tool in tools]
        functions = [each["function"] for each in self.schemas]
        self._tools = {each["name"]: tool for each, tool in zip(functions, tools, strict=True)}
        # Tools that tell what they read; of others, a result is a result.
        self.tells_sources = {
            name for name, tool in self._tools.items() if "context" in inspect.signature(tool).parameters
        }
        self.parameters = {each["name"]: tuple(each["parameters"]["properties"]) for each in functions}

    async def run(self, call: Call, context: ToolContext) -> ToolResult:
        """Run one call. What the model got wrong, and what cannot be read, becomes a result that says so."""
        start = time.perf_counter()
        read_before = len(context.sources)
        try:
            text, is_error = await self._call(call, context), False
        except _Refused as refusal:
            text, is_error = str(refusal), True
        except RatsearchError as error:
            text, is_error = f"Error: {error}", True
        duration_s = time.perf_counter() - start
        if len(context.sources) == read_before:
            return ToolResult(call.id, text, is_error, None, None, duration_s)
        read = context.sources[-1]
        passages = tuple(passage.text for passage in read.passages)
        return ToolResult(call.id, text, is_error, read.title, read.source, duration_s, passages)

    async def _call(self, call: Call, context: ToolContext) -> str:
        tool = self._tools.get(call.name)
        if tool is None:
            raise _Refused(f'There is no tool "{call.name}". There is: {", ".join(self._tools)}.')
        signature = inspect.signature(tool)
        wanted = ", ".join(f'"{name}": …' for name in signature.parameters if name != "context")
        arguments = call.arguments
        if arguments is None:
            raise _Refused(f"The arguments cannot be understood. Call {call.name} with {{{wanted}}}.")
        if "context" in signature.parameters:
            arguments = {**arguments, "context": context}
        try:
            signature.bind(**arguments)
        except TypeError as error:
            raise _Refused(f"Wrong arguments ({error}). Call {call.name} with {{{wanted}}}.") from error
        if inspect.iscoroutinefunction(tool):
            return str(await tool(**arguments))
        return str(await asyncio.to_thread(tool, **arguments))


class _Refused(Exception):
    """A call that cannot be run as the model wrote it."""


def _json_type(parameter: inspect.Parameter) -> str:
    annotation = parameter.annotation  # a string in modules that postpone annotations
    return JSON_TYPES.get(annotation if isinstance(annotation, str) else annotation.__name__, "string")
