"""Addresses of chat servers, as people write them and as requests need them."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit, urlunsplit

from ..errors import ServerUnreachable


def normalise_base_url(address: str) -> str:
    """The address under which the server's chat API lies. ServerUnreachable if it cannot be one.

    >>> normalise_base_url("localhost:8080")
    'http://localhost:8080/v1'
    >>> normalise_base_url("api.openai.com")
    'https://api.openai.com/v1'
    >>> normalise_base_url("https://openrouter.ai/api/v1/")
    'https://openrouter.ai/api/v1'
    """
    text = address.strip()
    if re.fullmatch(r"[0-9a-fA-F:]*:[0-9a-fA-F:]*:[0-9a-fA-F:.]*", text):
        text = f"[{text}]"  # a bare IPv6 address
    if "://" not in text:
        text = f"{_scheme(text)}://{text}"
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port, parts = "", None, urlsplit("")
    is_address = parts.scheme in ("http", "https") and host and not re.search(r"[\s\\\x00-\x1f\x7f]", text)
    if "@" in parts.netloc or ("@" in text and not is_address):  # and so perhaps a password, which is not repeated
        raise ServerUnreachable("The server's address holds a user name: leave it out, and give the key on its own.")
    if not is_address:
        shown = re.split("[?#]", address)[0]  # a key may follow
        raise ServerUnreachable(f"{shown!r} is not the address of a chat server: write http://HOST:PORT.")
    host = "127.0.0.1" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    path = re.sub(r"(/chat)?/completions$", "", parts.path.rstrip("/")) or "/v1"
    return urlunsplit((parts.scheme, f"{host}:{port}" if port else host, path, "", ""))


def server_root(base_url: str) -> str:
    """The address under which the server's own endpoints lie, beside the OpenAI ones.

    >>> server_root("http://localhost:8080/v1")
    'http://localhost:8080'
    """
    return re.sub(r"/v1$", "", base_url)


def is_loopback(base_url: str) -> bool:
    """Whether the address is this machine's own, so that no proxy can be meant to lie between."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _scheme(address: str) -> str:
    """Plain HTTP for what is near, or names its port; HTTPS for what is out on the internet."""
    authority = address.partition("/")[0]
    if authority.endswith(":443"):
        return "https"
    near = "." not in authority or authority.startswith("[") or authority.endswith((".local", ".lan", ".localhost"))
    has_port = re.search(r":\d+$", authority)
    is_ipv4 = re.fullmatch(r"[\d.]+", authority)
    return "http" if near or has_port or is_ipv4 else "https"
