"""From a page's HTML to an Article, to text, to what answers a question.

Reading order: model (what an article is) · tree (bytes → a safe tree) · rules (what is left out) · walk (the one walk
over the tree) · inline, lists, tables (its parts) · foreign (pages that are no wiki articles) · parse (all of it →
Article) · render (Article → text) · rank (BM25) · select (what fits a budget).
"""

from .model import Article, Section
from .select import passages, quotes

__all__ = ["Article", "Section", "passages", "quotes"]
