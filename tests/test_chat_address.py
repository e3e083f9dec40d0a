"""Addresses of chat servers, as people write them."""

import ipaddress
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratsearch_lib.chat.address import is_loopback, normalise_base_url, server_root
from ratsearch_lib.errors import ServerUnreachable


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("localhost:8080", "http://localhost:8080/v1"),
        ("localhost", "http://localhost/v1"),
        (" http://host:1 ", "http://host:1/v1"),
        ("http://host:1/", "http://host:1/v1"),
        ("http://host:1/v1", "http://host:1/v1"),
        ("http://host:1/v1///", "http://host:1/v1"),
        ("HTTP://Host:1", "http://host:1/v1"),
        ("https://api.openai.com/v1/", "https://api.openai.com/v1"),
        ("api.openai.com", "https://api.openai.com/v1"),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1"),
        ("https://example.org/v1beta/openai/", "https://example.org/v1beta/openai"),
        ("http://host:8080/v1/chat/completions", "http://host:8080/v1"),
        ("192.168.1.20:1234", "http://192.168.1.20:1234/v1"),
        ("192.168.1.20", "http://192.168.1.20/v1"),
        ("laptop.local", "http://laptop.local/v1"),
        ("example.org:8000", "http://example.org:8000/v1"),
        ("example.org:443", "https://example.org:443/v1"),
        ("[::1]:8080", "http://[::1]:8080/v1"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
        ("::1", "http://[::1]/v1"),
        ("0.0.0.0:8080", "http://127.0.0.1:8080/v1"),
        ("http://host/v1?key=secret#x", "http://host/v1"),
    ],
)
def test_addresses_as_people_write_them(written, meant):
    assert normalise_base_url(written) == meant


@pytest.mark.parametrize(
    "written", ["", "  ", "http://", "ftp://host", "http://ho st", "http://host/\0", "host:port", "http://[::1", ":80"]
)
def test_what_is_no_address(written):
    with pytest.raises(ServerUnreachable, match="write http://HOST:PORT"):
        normalise_base_url(written)


@pytest.mark.parametrize(
    "written",
    [
        "http://rat:hunter2@host:8080",
        "http://rat:hunter2@host:8080 x",
        "http://rat:hunter2@host:port",
        "http://rat:hunter2/@host",
        "ftp://rat:hunter2@host",
        "rat:hunter2@[host",
        "http://ho st/v1?key=hunter2",
    ],
)
def test_a_password_in_the_address_is_refused_and_not_repeated(written):
    with pytest.raises(ServerUnreachable) as caught:
        normalise_base_url(written)
    assert "hunter2" not in str(caught.value)


@given(st.text())
def test_any_text_is_an_address_or_our_error(written):
    try:
        url = normalise_base_url(written)
    except ServerUnreachable:
        return
    assert normalise_base_url(url) == url
    assert urlsplit(url).hostname


@given(st.ip_addresses(), st.integers(1, 65535))
def test_ip_addresses(address, port):
    host = f"[{address}]" if address.version == 6 else str(address)
    url = normalise_base_url(f"{host}:{port}")
    assert urlsplit(url).port == port
    unspecified = address in (ipaddress.ip_address("0.0.0.0"), ipaddress.ip_address("::"))
    assert is_loopback(url) == (address.is_loopback or unspecified)


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:1/v1", True),
        ("http://127.0.0.1/v1", True),
        ("http://[::1]:8080/v1", True),
        ("http://localhost.example.org/v1", False),
        ("http://192.168.1.1/v1", False),
    ],
)
def test_loopback(url, local):
    assert is_loopback(url) == local


def test_root_of_the_servers_own_endpoints():
    assert server_root("http://host/llama/v1") == "http://host/llama"
    assert server_root("http://host/api") == "http://host/api"
