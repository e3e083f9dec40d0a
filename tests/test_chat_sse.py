"""Server-sent events, however the bytes are cut."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratsearch_lib.chat.sse import event_data


def data_of(*chunks):
    async def stream():
        for chunk in chunks:
            yield chunk

    async def collect():
        return [data async for data in event_data(stream())]

    return asyncio.run(collect())


@pytest.mark.parametrize(
    ("stream", "data"),
    [
        (b"data: a\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data: a\r\n\r\ndata:b\r\n\r\n", [b"a", b"b"]),
        (b": ping\n\nretry: 3000\n\nevent: x\nid: 1\ndata: a\n\n", [b"a"]),
        (b"data: a\ndata: b\n\n", [b"a\nb"]),
        (b"data:  a\n\n", [b" a"]),
        (b"data: a\n\ndata: [DONE]", [b"a", b"[DONE]"]),
        ("data: a\u2028b\x85c\x0bd\n\n".encode(), ["a\u2028b\x85c\x0bd".encode()]),  # no ends of lines
        (b"\n\n\ndata\n\nnonsense\n\n", []),
        (b"", []),
    ],
)
def test_every_cut_in_two(stream, data):
    for cut in range(len(stream) + 1):
        assert data_of(stream[:cut], stream[cut:]) == data
    assert data_of(*(bytes([byte]) for byte in stream)) == data


@given(st.lists(st.binary(max_size=8)))
def test_any_bytes_are_survived(chunks):
    assert all(isinstance(data, bytes) for data in data_of(*chunks))
