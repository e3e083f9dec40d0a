"""What a model is shown of an article or a document: a first line that says what it is, and as much as fits."""

from __future__ import annotations

from .archive import Entry
from .article import Article, passages, quotes
from .errors import ArticleError
from .shelf import DOCUMENTS, Document
from .tools import ReadResult, ToolContext

MAX_CHARS = 65_535


def article_at(entry: Entry) -> Article:
    """The article at an entry. ArticleError when the page holds no text."""
    is_file_name = entry.title == entry.path and ("/" in entry.path or "." in entry.path)
    title = None if is_file_name else entry.title
    if entry.mimetype.startswith("text/plain"):
        text = entry.content.decode("utf-8", "replace").strip()
        if not text:
            raise ArticleError(f'"{entry.title}" is empty.')
        return Article(entry.title, lead=text)
    if not entry.is_html:
        raise ArticleError(f'"{entry.title}" is not an article but {entry.mimetype}.')
    return Article.from_html(entry.content, title)


def present(entry: Entry, context: ToolContext, *, section: str = "", note: str = "") -> ReadResult:
    """The article at an entry, or a section of it; `note` follows its title."""
    source = f"{entry.archive.path.name}/{entry.path}"
    try:
        article = article_at(entry)
    except ArticleError as error:
        return ReadResult(f"Article: {entry.title}{note}\n\n({error})", entry.title, source)
    section = section or entry.section
    if section:
        part = article.part(section)
        article, note = part or article, note if part else f'{note} (it has no section "{section}")'
    first = f"Article: {article.title}{note}"
    if article.is_disambiguation:
        first = f'"{article.title}" may refer to:'
    return _result(first, article, article.title, source, context)


def present_document(document: Document, context: ToolContext) -> ReadResult:
    """A document, or a part of one with its neighbours."""
    return _result(document.title, document.article, document.name, f"{DOCUMENTS}/{document.name}", context)


def _result(first: str, article: Article, title: str, source: str, context: ToolContext) -> ReadResult:
    """What of `article` fits, under the line `first`."""
    asked = {"previous_questions": context.previous_questions}
    if context.max_tokens is None:
        text = article.text(MAX_CHARS - len(first))
    else:
        text = article.select(context.question, max_tokens=context.max_tokens, **asked)
    body = text.partition("\n")[2]
    found = {}
    if context.question:
        found["passages"] = tuple(passages(article, context.question, **asked))
        found["quotes"] = tuple(quotes(article, context.question, **asked))
    return ReadResult(f"{first}\n{body}", title, source, **found)
