"""A page of the sample: from its short source to the HTML that mwoffliner writes for a Wikipedia article.

A source is HTML with these shorthands, so that it stays readable:

    <title>Brown rat</title>                  first line; lang="ja" for another language
    [[Title]], [[Title#Section|text]]         a link to another page
    <infobox>, <infobox class="biota">        a title line, then `key: value`, `== header ==`, `image: file | caption`
    <hatnote>, <figure src="a.png">caption</figure>, <navbox>name</navbox>, <disambiguation/>
    <math>TeX</math>, <math display="block">  a formula
    <code lang="python">                      a block of code
    <ref>source</ref>, <ref name="a"/>        a reference; <references/> is where the list goes
    <h2>, <h3>                                a heading: opens a section, gets an id and an edit mark
"""

import html
import re
from dataclasses import dataclass
from urllib.parse import quote

from .mathml import math_element

TITLE = re.compile(r'<title(?: lang="(\w+)")?>(.+?)</title>\n')
PYTHON_TOKENS = re.compile(
    r"(?P<c1>\#[^\n]*)|(?P<s2>\"[^\"\n]*\")|(?P<k>\b(?:def|return|for|in|if|while|import|from|not|and|or|else|yield)\b)"
    r"|(?P<mi>\b\d+\b)|(?P<n>[^\W\d]\w*)|(?P<o>[-+*/%=<>]+)|(?P<p>[()\[\]{}:,.])"
)
TEMPLATE = """<!DOCTYPE html>
<html class="client-js" lang="{lang}" dir="ltr"><head><meta charset="UTF-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1.0">
<link rel="icon" type="image/png" href="./_res_/favicon.png">
<link rel="stylesheet" type="text/css" href="./_mw_/site.styles.css">
</head>
<body class="mediawiki ltr sitedir-ltr mw-hide-empty-elt ns-0 ns-subject skin-vector-2022 action-view">
<div class="mw-page-container"><div class="mw-page-container-inner"><div class="mw-content-container">
<main id="content" class="mw-body">
<header class="mw-body-header vector-page-titlebar"><h1 id="firstHeading" class="firstHeading mw-first-heading">\
<span class="mw-page-title-main">{title}</span></h1></header>
<a id="top"></a>
<div id="bodyContent" class="vector-body" aria-labelledby="firstHeading">
<div id="contentSub"><div id="mw-content-subtitle"></div></div>
<div id="mw-content-text" class="mw-body-content"><div class="mw-content-ltr mw-parser-output" lang="{lang}" dir="ltr">
{body}
</div><!--htdig_noindex--><div class="zim-footer"><div style="clear:both; border-top: dashed 2px #AAAAAA; \
padding: 0.5em; margin-top: 1em; direction: ltr;">
This article is issued from <a class="external text" href="./index">ratsearch's sample encyclopedia</a>. \
The text is licensed under the \
<a class="external text" href="https://www.gnu.org/licenses/gpl-3.0.html">GNU General Public License</a>, \
version 3 or later.
</div></div><!--/htdig_noindex--></div></div></main></div></div></div></body></html>
"""
DISAMBIGUATION = """<meta property="mw:PageProp/disambiguation">
<table id="disambigbox" class="metadata plainlinks dmbox dmbox-disambig" role="presentation"><tbody><tr>
<td class="mbox-text" style="padding: 0.25em 0.4em; font-style: italic;">This disambiguation page lists articles \
associated with the title <b>{title}</b>.</td></tr></tbody></table>"""


@dataclass(frozen=True, slots=True)
class Page:
    """One HTML entry of the archive; its path there is its title with underscores."""

    title: str
    html: str

    @property
    def path(self) -> str:
        return self.title.replace(" ", "_")


def render(source: str, navboxes: dict[str, list[tuple[str, str]]]) -> Page:
    """The page of a source. `navboxes` maps a box's name to its rows, (group, links)."""
    found = TITLE.match(source)
    if not found:
        raise ValueError("a page of the sample must begin with its <title> line")
    lang, title = found[1] or "en", found[2]
    body = source[found.end() :]
    body = re.sub(r'<code lang="(\w+)">\n?(.*?)</code>', lambda m: _code(m[1], m[2]), body, flags=re.S)
    body = re.sub(
        r'<math( display="block")?>(.*?)</math>', lambda m: math_element(html.unescape(m[2]), block=bool(m[1])), body
    )
    body = re.sub(r"<navbox>(.+?)</navbox>", lambda m: _navbox(m[1], navboxes[m[1]]), body)
    body = re.sub(
        r"<infobox( class=\"\w+\")?>\n(.*?)\n</infobox>", lambda m: _infobox(m[1] or "", m[2]), body, flags=re.S
    )
    body = re.sub(r"<figure src=\"(.+?)\">(.*?)</figure>", lambda m: _figure(m[1], m[2]), body)
    body = re.sub(
        r"<hatnote>(.*?)</hatnote>", r'<div role="note" class="hatnote navigation-not-searchable">\1</div>', body
    )
    body = body.replace("<disambiguation/>", DISAMBIGUATION.format(title=title))
    body = _references(body)
    body = re.sub(r"\[\[([^\]|#]*)(#[^\]|]*)?(?:\|([^\]]*))?\]\]", lambda m: _link(m[1], m[2] or "", m[3]), body)
    return Page(title, TEMPLATE.format(title=html.escape(title), lang=lang, body=_sections(title, body.strip())))


def redirect_stub(title: str, target: str) -> Page:
    """The page that mwoffliner writes for a redirect to a section, which a ZIM redirect cannot hold."""
    name, _, section = target.partition("#")
    href = html.escape(f"./{quote(name.replace(' ', '_'), safe='()')}#{section.replace(' ', '_')}")
    shown = html.escape(title)
    return Page(
        title,
        f"<html>\n  <head>\n    <title>{shown}</title>\n"
        f'    <meta http-equiv="refresh" content="0;URL=\'{href}\'" />\n'
        f'  </head>\n  <body>\n    <a href="{href}">{shown}</a>\n  </body>\n</html>\n',
    )


def link(title: str) -> str:
    """A link to the page of that title.

    >>> link("Brown rat")
    '<a href="./Brown_rat" title="Brown rat">Brown rat</a>'
    """
    return _link(title, "", None)


def _link(title: str, section: str, text: str | None) -> str:
    shown = text or title
    if not title:
        return f'<a href="{section.replace(" ", "_")}">{shown}</a>'
    title = title[0].upper() + title[1:]
    href = quote(title.replace(" ", "_"), safe="()") + section.replace(" ", "_")
    return f'<a href="./{href}" title="{title}">{shown}</a>'


def _sections(title: str, body: str) -> str:
    """Wrap the text under each heading in a numbered section, h3 within h2, as Parsoid does."""
    pieces = re.split(r"<h([23])>(.*?)</h\1>", body)
    out = ['<section data-mw-section-id="0">', pieces[0]]
    depth = 0  # how many sections below the lead are open: 0, 1 (h2) or 2 (h3)
    for number, at in enumerate(range(1, len(pieces), 3), start=1):
        level, heading, text = int(pieces[at]), pieces[at + 1], pieces[at + 2]
        wanted = level - 1
        out.append("</section>" * (1 if number == 1 else depth - wanted + 1))
        depth = wanted
        anchor = html.escape(re.sub(r"<[^>]*>", "", heading).replace(" ", "_"))
        edit = f"https://example.org/w/index.php?title={quote(title)}&amp;action=edit&amp;section={number}"
        out.append(
            f'<section data-mw-section-id="{number}"><div class="mw-heading mw-heading{level}">'
            f'<h{level} id="{anchor}">{heading}</h{level}><span class="mw-editsection">'
            f'<span class="mw-editsection-bracket">[</span><a href="{edit}" title="Edit section: {anchor}">'
            f'<span>edit</span></a><span class="mw-editsection-bracket">]</span></span></div>{text}'
        )
    out.append("</section>" * max(depth, 1))
    return "".join(out)


def _references(body: str) -> str:
    """Number the <ref>s in the order of their first use, and list them at <references/>."""
    texts = {m[1]: m[2] for m in re.finditer(r'<ref name="(\w+)">(.*?)</ref>', body)}
    numbers: dict[str, int] = {}
    uses: dict[str, int] = {}

    def mark(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        texts.setdefault(name, found[2])
        number = numbers.setdefault(name, len(numbers) + 1)
        use = uses[name] = uses.get(name, -1) + 1
        return (
            f'<sup class="mw-ref reference" id="cite_ref-{number}-{use}"><a href="#cite_note-{number}">'
            f'<span class="mw-reflink-text"><span class="cite-bracket">[</span>{number}'
            '<span class="cite-bracket">]</span></span></a></sup>'
        )

    body = re.sub(r'<ref(?: name="(\w+)")?(?:/>|>(.*?)</ref>)', mark, body)
    items = "\n".join(
        f'<li id="cite_note-{number}"><span class="mw-cite-backlink"><a href="#cite_ref-{number}-0">'
        f'<span class="mw-linkback-text">↑ </span></a></span> <span id="mw-reference-text-cite_note-{number}" '
        f'class="mw-reference-text reference-text"><cite class="citation">{texts[name]}</cite></span></li>'
        for name, number in numbers.items()
    )
    listed = f'<div class="mw-references-wrap"><ol class="mw-references references">\n{items}\n</ol></div>'
    return body.replace("<references/>", listed)


def _infobox(kind: str, lines: str) -> str:
    """A taxobox ("biota") pairs its rows as td + td with a colon, every other infobox as th + td."""
    biota = "biota" in kind
    first, *rest = lines.split("\n")
    rows = [f'<tr><th colspan="2" class="infobox-above" style="text-align: center">{first}</th></tr>']
    for line in rest:
        key, _, value = line.partition(": ")
        if line.startswith("=="):
            rows.append(f'<tr><th colspan="2" class="infobox-header">{line.strip("= ")}</th></tr>')
        elif key == "image":
            file, _, caption = value.partition(" | ")
            rows.append(
                f'<tr><td colspan="2" class="infobox-image">{_image(file)}'
                f'<div class="infobox-caption">{caption}</div></td></tr>'
            )
        elif biota:
            rows.append(f"<tr><td>{key}:</td><td>{value}</td></tr>")
        else:
            rows.append(
                f'<tr><th scope="row" class="infobox-label">{key}</th><td class="infobox-data">{value}</td></tr>'
            )
    return f'<table class="infobox{" biota" if biota else " vcard"}"><tbody>{"".join(rows)}</tbody></table>'


def _image(file: str) -> str:
    return (
        f'<span typeof="mw:File"><img src="./_assets_/{file}" decoding="async" loading="lazy" '
        'data-file-type="bitmap" class="mw-file-element"></span>'
    )


def _figure(file: str, caption: str) -> str:
    thumb = f"{_image(file)}<figcaption>{caption}</figcaption>"
    return f'<figure class="mw-default-size" typeof="mw:File/Thumb">{thumb}</figure>'


def _navbox(name: str, rows: list[tuple[str, str]]) -> str:
    anchor = name.replace(" ", "_")
    listed = "".join(
        f'<tr><th scope="row" class="navbox-group" style="width:1%">{group}</th>'
        '<td class="navbox-list-with-group navbox-list navbox-odd" style="width:100%;padding:0">'
        f'<div style="padding:0 0.25em"><ul>{"".join(f"<li>{item}</li>" for item in links.split(" · "))}</ul></div>'
        "</td></tr>"
        for group, links in rows
    )
    return (
        f'<div role="navigation" class="navbox" aria-labelledby="{anchor}" style="padding:3px">'
        '<table class="nowraplinks hlist mw-collapsible mw-collapsed navbox-inner"><tbody>'
        f'<tr><th scope="col" class="navbox-title" colspan="2"><div id="{anchor}" style="font-size:114%;margin:0 4em">'
        f"{name}</div></th></tr>{listed}</tbody></table></div>"
    )


def _code(language: str, source: str) -> str:
    """Code with its tokens in spans, as Pygments marks them; `[` is escaped so that no [[link]] is seen in it."""

    def span(found: re.Match[str]) -> str:
        return f'<span class="{found.lastgroup}">{html.escape(found[0])}</span>'

    marked = PYTHON_TOKENS.sub(span, html.unescape(source)).replace("[", "&#91;")
    return (
        f'<div class="mw-highlight mw-highlight-lang-{language} mw-content-ltr" dir="ltr">'
        f"<pre><span></span>{marked}</pre></div>"
    )
