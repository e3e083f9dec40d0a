"""The Kiwix library: which archives it has (`catalogue`), and getting one of them whole (`download`).

catalogue = Catalogue()
entry = catalogue.find("wikipedia_en_all_nopic")
path = download(entry, ".", progress=print)
"""

from .catalogue import CATALOGUE_URL, Catalogue, CatalogueEntry
from .download import download, older_editions

__all__ = ["CATALOGUE_URL", "Catalogue", "CatalogueEntry", "download", "older_editions"]
