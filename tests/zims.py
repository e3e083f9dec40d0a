"""Archives made for a test, with libzim's own writer."""

from libzim.writer import Creator, Hint, Item, StringProvider

from ratsearch_lib.archive import Archive


class Page(Item):
    def __init__(self, path, title, html):
        super().__init__()
        self.path, self.title, self.html = path, title, html

    def get_path(self):
        return self.path

    def get_title(self):
        return self.title

    def get_mimetype(self):
        return "text/html"

    def get_contentprovider(self):
        return StringProvider(self.html)

    def get_hints(self):
        return {Hint.FRONT_ARTICLE: True}


def make_archive(path, pages, redirects=(), main="Main"):
    """An archive of pages (path, title, HTML) and redirects (path, title, target)."""
    with Creator(str(path)) as creator:
        creator.set_mainpath(main)
        for each, title, html in pages:
            creator.add_item(Page(each, title, html))
        for each, title, target in redirects:
            creator.add_redirection(each, title, target, {Hint.FRONT_ARTICLE: True})
    return Archive(path)
