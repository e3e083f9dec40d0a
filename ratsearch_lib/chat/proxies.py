"""The proxies that the environment names, looked at before anything relies on them."""

from __future__ import annotations

from urllib.parse import urlsplit
from urllib.request import getproxies

from . import failures


def check_proxies() -> None:
    """ServerUnreachable, which names the setting, if the HTTP client could not use one of the proxies."""
    import httpx2

    proxies = getproxies()
    if "*" in (host.strip() for host in proxies.get("no", "").split(",")):
        return
    for scheme in ("http", "https", "all"):
        address = proxies.get(scheme)
        if not address:
            continue
        address = address if "://" in address else f"http://{address}"
        try:
            _ = urlsplit(address).port  # the client itself finds out only when it connects, in many ways
            httpx2.AsyncHTTPTransport(proxy=address, verify=False)
        except (ImportError, ValueError, httpx2.InvalidURL):  # no SOCKS without a package more
            # not quoted: it may hold a password
            raise failures.bad_proxy(f"{scheme.upper()}_PROXY") from None
