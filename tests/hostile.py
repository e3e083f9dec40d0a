"""Text that attacks a page, and an archive made of it."""

import base64
from pathlib import Path

from libzim.writer import Item, StringProvider

# Each sets window.pwned if it gets to run, or fetches from a foreign address if it gets to load.
INJECTIONS = [
    "<script>window.pwned=1</script>",
    "<img src=x onerror='window.pwned=1'>",
    "<img src=http://evil.example/a.png>",
    "![](http://evil.example/b.png)",
    "[a]: http://evil.example/c.png\n\n![a]",
    "<svg onload=window.pwned=1>",
    "<iframe srcdoc='<script>parent.pwned=1</script>'></iframe>",
    "<style>body{display:none;background:url(http://evil.example/d.png)}</style>",
    "<link rel=stylesheet href=http://evil.example/e.css>",
    "</div></div><form action=http://evil.example><input autofocus onfocus=window.pwned=1></form>",
    "`\n\n<img src=x onerror=window.pwned=1>\n\n`",
    "```\n<b>\n```\n<details open ontoggle=window.pwned=1>x</details>",
    "\\(\\href{javascript:window.pwned=1}{x}\\) \\(<img src=x onerror=window.pwned=1>\\)",
    '```mermaid\ngraph TD; A["<img src=x onerror=window.pwned=1>"]-->B\n```',
    "[press](javascript:window.pwned=1) <a href='javascript:window.pwned=1'>press</a>",
    # What is code to a careless reader, and HTML or a picture to a careful one.
    "\\`<img src=x onerror=window.pwned=1>`",
    "`foo\n- <img src=x onerror=window.pwned=1>`",
    "- item\n   ```\n<img src=x onerror=window.pwned=1>",
    "``` `x\n<img src=x onerror=window.pwned=1>",
    "\\(x\n\n![a](http://evil.example/f.png)\\)",
    "   ```\n```\n<img src=x onerror=window.pwned=1>",
    "[a](<`>) <img src=x onerror=window.pwned=1> ` ` `",
    "https://127.0.0.1/` <img src=x onerror=window.pwned=1> `",
    "|a|b|\n|-|-|\n|`a|<img src=x onerror=window.pwned=1>`|",
    "[a]:\n```\n<img src=x onerror=window.pwned=1>\n```",
    "![\n```\n\\]\n<img src=x onerror=window.pwned=1>\n```",
    '[a](\\(" onmouseover="window.pwned=1\\))',
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=x onerror=window.pwned=1&gt;'>",
]
HOSTILE_TITLE = "<img src=x onerror='window.pwned=1'>`</code>"


HOUSE = """<html><head><title>House of rats</title><link rel="stylesheet" href="http://evil.example/e.css">
<script>window.parent.pwned = 1</script><meta http-equiv="refresh" content="0; url=http://evil.example/"></head>
<body><h1>House of rats</h1><img id="here" src="../I/dot.png"><img src="http://evil.example/g.png"><img src="/logout">
<a href="../rat">The rat</a> <a href="http://evil.example/out">Out</a> <a href="javascript:parent.pwned=1">Run</a>
ROOMS</body></html>"""
DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


class Picture(Item):
    def get_path(self):
        return "I/dot.png"

    def get_title(self):
        return ""

    def get_mimetype(self):
        return "image/png"

    def get_contentprovider(self):
        return StringProvider(DOT)

    def get_hints(self):
        return {}


def hostile_archive(path: Path) -> Path:
    from libzim.writer import Creator

    from .zims import Page

    with Creator(path) as creator:
        creator.set_mainpath("rat")
        creator.add_metadata("Title", "Bad <img src=x onerror=window.pwned=1> `encyclopedia`")
        creator.add_metadata("Language", "eng")
        body = "".join(f"<p>{line}</p>".replace("<script", "&lt;script") for line in INJECTIONS)
        creator.add_item(Page("rat", "Rat", "<h1>Rat</h1><p>A rat is a rodent &lt;b&gt;.</p>" + body))
        house = "".join(f"<p>Room {number} of the house is empty and rather dusty.</p>" for number in range(80))
        house += "<p>The rats of the house sleep in a nest of blue wool<sup>[1]</sup> behind the stove.</p>"
        creator.add_item(Page("House/Of_rats", "House of rats", HOUSE.replace("ROOMS", house)))
        creator.add_item(Picture())
        creator.add_item(Page("bad", HOSTILE_TITLE, "<h1>Bad</h1><p>Text.</p>"))
    return path
