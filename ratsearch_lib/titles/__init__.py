"""The title index: which article somebody means by the title they typed."""

from .index import TitleIndex, TitleMatch
from .normalise import NORMALISER_VERSION, normalise

__all__ = ["NORMALISER_VERSION", "TitleIndex", "TitleMatch", "normalise"]
