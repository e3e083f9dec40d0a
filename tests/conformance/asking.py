"""The smallest way to ask a server through ChatClient."""

from ratsearch_lib.chat import ChatClient, Delta
from ratsearch_lib.chat.bridge import iterate

LONG_S = 30  # how long a test waits for what happens at once
QUESTION = [{"role": "user", "content": "What is the largest mammal?"}]


def ask(server, client: ChatClient | None = None, **options) -> list[Delta]:
    """All deltas of one request."""
    client = client or ChatClient(server.base_url)
    return list(iterate(lambda: client.stream(QUESTION, **options)))


def answer_of(deltas: list[Delta]) -> str:
    return "".join(delta.text for delta in deltas)
