"""What articles say first: related articles for descriptions and questions, which title indexes cannot answer."""

from .fuse import fuse
from .index import LeadIndex, LeadMatch

__all__ = ["LeadIndex", "LeadMatch", "fuse"]
