"""Article and Section: what a page says, without its markup."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the text under it, up to the next heading.

    level    2 for a main section, 3 for one inside it, as in HTML
    heading  plain text
    text     Markdown: paragraphs and tables a blank line apart
    id       the heading's id in the page, for links to it ("" where it had none)
    """

    level: int
    heading: str
    text: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Article:
    """A page as title, lead, infobox and sections.

    title              as the page shows it
    lead               the text before the first heading, Markdown
    infobox            (key, value) pairs; the key of a line without one is ""
    sections           in reading order
    links              (target title or path, link text) within the archive, each target once
    hatnotes           lines above the lead: "For other uses, see …"
    is_disambiguation  the page lists what its title may mean
    redirect_to        "Target" or "Target#Section" where the page only sends its reader on, else None
    language           the page's language code ("" where it names none)

    >>> article = Article.from_html("<h1>Rat</h1><p>A rodent.</p><h2>Diet</h2><p>Anything.</p>")
    >>> print(article.text())
    Article: Rat
    <BLANKLINE>
    A rodent.
    <BLANKLINE>
    ## Diet
    <BLANKLINE>
    Anything.
    """

    title: str
    lead: str = ""
    infobox: tuple[tuple[str, str], ...] = ()
    sections: tuple[Section, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    hatnotes: tuple[str, ...] = ()
    is_disambiguation: bool = False
    redirect_to: str | None = None
    language: str = ""

    @classmethod
    def from_html(cls, html: str | bytes, title: str | None = None) -> Article:
        """Read a page of any MediaWiki, or any other HTML page; raises ArticleError when it holds no text.

        `title` is what the archive calls the page; without it the page's own heading is taken.
        """
        from .parse import parse

        return parse(html, title)

    def text(self, max_chars: int | None = None) -> str:
        """The article as Markdown, its first line "Article: TITLE", never longer than `max_chars`.

        It is cut where a section or paragraph ends; a last line then says what was left out and how to read it.
        """
        from .render import text

        return text(self, max_chars)

    def outline(self) -> str:
        """The table of contents, a line a section: its heading, indented by level, and its size in characters."""
        from .render import outline

        return outline(self)

    def section(self, name: str) -> Section | None:
        """The section of that heading or id, its subsections' text included; None where there is none.

        Case, underscores, percent-encoding and punctuation do not matter: "Early_life" finds "Early life".
        """
        from .render import section

        return section(self, name)

    def part(self, name: str) -> Article | None:
        """The section of that name as an article of its own, titled "TITLE#HEADING"; None where there is none."""
        from .render import part

        return part(self, name)

    def select(
        self,
        question: str,
        *,
        max_tokens: int | None = None,
        max_chars: int | None = None,
        previous_questions: Sequence[str] = (),
    ) -> str:
        """The article's text where it fits, else what answers `question` best, in article order, gaps marked.

        Always with the lead's first sentences, the outline, and a last line that says what was left out. Without
        either limit, at most 2,000 tokens, estimated (see `estimate_tokens`).
        """
        from .select import select

        return select(self, question, max_tokens=max_tokens, max_chars=max_chars, previous_questions=previous_questions)
