"""Text that attacks a page, and an archive made of it."""

from pathlib import Path

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


def hostile_archive(path: Path) -> Path:
    from libzim.writer import Creator

    from .zims import Page

    with Creator(path) as creator:
        creator.set_mainpath("rat")
        creator.add_metadata("Title", "Bad <img src=x onerror=window.pwned=1> `encyclopedia`")
        creator.add_metadata("Language", "eng")
        body = "".join(f"<p>{line}</p>".replace("<script", "&lt;script") for line in INJECTIONS)
        creator.add_item(Page("rat", "Rat", "<h1>Rat</h1><p>A rat is a rodent &lt;b&gt;.</p>" + body))
        creator.add_item(Page("bad", HOSTILE_TITLE, "<h1>Bad</h1><p>Text.</p>"))
    return path
