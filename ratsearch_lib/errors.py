"""The exceptions of ratsearch, all in one tree.

    RatsearchError
    ├── ArchiveError          a ZIM file cannot be opened, or is damaged where it was read
    ├── EntryNotFound         the archive holds no such title or path (also a KeyError)
    ├── TitleIndexError       a title index is missing, of another archive, or cannot be written
    ├── DocumentStoreError    a store of documents cannot be opened, read or written
    ├── DocumentNotFound      it holds no such chunk or file (also a KeyError)
    ├── ArticleError          a page holds nothing that can be read as an article
    ├── TranscriptError       a transcript cannot be written or read, or holds no such request
    ├── DownloadError         the Kiwix catalogue cannot be asked, or an archive was not got whole
    ├── ModelError            weights could not be fetched, or the embedded server did not start
    └── ChatError             a chat server failed
        ├── ServerUnreachable     nothing answers at the address
        ├── ServerLoading         it answers, but still loads its model (HTTP 503)
        ├── AuthenticationFailed  it wants a key, or another one (HTTP 401, 403)
        ├── ModelNotFound         it does not serve that model
        ├── ContextOverflow       the conversation does not fit its context window
        └── BadReply              it broke off, or sent what no chat server should

Each message says what happened and what to do about it, and stands alone as one sentence or two.
"""


class RatsearchError(Exception):
    """The root of the tree: `except RatsearchError` catches whatever the environment did."""


class ArchiveError(RatsearchError):
    """A ZIM file cannot be opened, or is damaged where it was read."""


class EntryNotFound(RatsearchError, KeyError):
    """The archive holds no entry of that title or path."""

    __str__ = Exception.__str__  # KeyError would show the repr of its message


class TitleIndexError(RatsearchError):
    """A title index is missing, belongs to another archive or version, or cannot be written."""


class DocumentStoreError(RatsearchError):
    """A store of documents cannot be opened, read or written, or what it is asked to index cannot be."""


class DocumentNotFound(RatsearchError, KeyError):
    """The store holds no such chunk or file."""

    __str__ = Exception.__str__


class ArticleError(RatsearchError):
    """A page holds nothing that can be read as an article."""


class TranscriptError(RatsearchError):
    """A transcript cannot be written or read, or holds no request like the one that is to be replayed."""


class DownloadError(RatsearchError):
    """The Kiwix catalogue cannot be asked, or an archive could not be downloaded whole; what came in is kept."""


class ModelError(RatsearchError):
    """Model weights could not be fetched, or the embedded server did not start."""


class ChatError(RatsearchError):
    """A chat server failed.

    status         its HTTP status, where there was one
    retry_after_s  how long it asks to be left alone, where it says so
    messages       from an `Agent`: the conversation with what was received until then, fit to go on with
    """

    def __init__(self, message: str, *, status: int | None = None):
        super().__init__(message)
        self.status = status
        self.retry_after_s: float | None = None
        self.messages: list[dict] | None = None


class ServerUnreachable(ChatError):
    """Nothing answers at the server's address."""


class ServerLoading(ChatError):
    """The server answers, but still loads its model (HTTP 503)."""


class AuthenticationFailed(ChatError):
    """The server wants a key, or another one (HTTP 401 or 403)."""


class ModelNotFound(ChatError):
    """The server does not serve the model that was asked for."""


class ContextOverflow(ChatError):
    """The conversation does not fit the model's context window."""


class BadReply(ChatError):
    """The server's reply broke off, or is not what a chat server sends."""
