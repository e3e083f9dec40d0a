"""Tables as rows of Markdown, and infoboxes as `key: value`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selectolax.lexbor import LexborNode

from . import rules
from .inline import clean

if TYPE_CHECKING:
    from .walk import Walker

MAX_CELLS = 200_000  # in a page, once rowspan and colspan are carried
MAX_COLUMNS = 100
MAX_NESTED, MAX_NESTED_CELLS = 8, 60  # tables inside infoboxes


def is_infobox(attributes: dict, classes: str) -> bool:
    names = classes.split()
    return (
        any(name.startswith("infobox") for name in names)
        or not rules.INFOBOX_CLASSES.isdisjoint(names)
        or (attributes.get("id") or "").startswith(rules.INFOBOX_IDS)
    )


def write(walker: Walker, table: LexborNode, attributes: dict, classes: str, depth: int) -> None:
    """Add a table to the article: an infobox, a table, or what stands in a table that only lays out the page."""
    if is_infobox(attributes, classes):
        _add_infobox(walker, infobox_rows(walker, table, depth))
        return
    rows, caption = rows_of(table)
    if attributes.get("role") == "presentation" or ("wikitable" not in classes and _is_layout(rows)):
        for row in rows:
            for cell in cells_of(row):
                if not walker.skips(cell.tag, cell.attributes):
                    walker.children(cell, depth + 1)
                    walker.flush()
        return
    lines = _grid(walker, rows, depth)
    title = cell_text(walker, caption, depth, " ") if caption is not None else ""
    if lines:
        walker.emit("\n".join(([f"Table: {title}"] if title else []) + lines))


def write_infobox(walker: Walker, box: LexborNode, depth: int) -> None:
    """An infobox that is a <div> around tables."""
    for table in box.css("table"):
        _add_infobox(walker, infobox_rows(walker, table, depth))


def _add_infobox(walker: Walker, rows: list[tuple[str, str]]) -> None:
    if walker.in_lead:
        walker.infobox += rows
    elif rows:
        walker.emit("\n".join(f"{key}: {value}" if key else value for key, value in rows))


def rows_of(table: LexborNode) -> tuple[list[LexborNode], LexborNode | None]:
    """The table's own rows in order, without those of tables inside it, and its caption."""
    rows, caption = [], None
    child = table.first_child
    while child is not None:
        if child.tag == "tr":
            rows.append(child)
        elif child.tag == "caption" and caption is None:
            caption = child
        elif child.tag in ("tbody", "thead", "tfoot"):
            row = child.first_child
            while row is not None:
                if row.tag == "tr":
                    rows.append(row)
                row = row.next
        child = child.next
    return rows, caption


def cells_of(row: LexborNode):
    cell = row.first_child
    while cell is not None:
        if cell.tag in ("td", "th"):
            yield cell
        cell = cell.next


def cell_text(walker: Walker, cell: LexborNode, depth: int, separator: str = "; ") -> str:
    """A cell on one line, its lines and list items joined by `separator`."""
    walker.in_cell += 1
    text = clean(walker.capture(cell, depth), "\0")
    walker.in_cell -= 1
    if "\0" in text:
        text = separator.join(filter(None, (line.strip() for line in text.split("\0"))))
        if separator == "; ":
            text = text.replace("; (", " (").replace(",; ", ", ").replace(":; ", ": ")
    return text


def _is_layout(rows: list[LexborNode]) -> bool:
    return len(rows) <= 3 and sum(1 for row in rows for _ in cells_of(row)) <= 3


def _grid(walker: Walker, rows: list[LexborNode], depth: int) -> list[str]:
    """The rows as lines, cells that span rows or columns carried into each row that they reach."""
    header: list[str] = []  # one row: Markdown has no more; cells of further header rows are joined on
    lines: list[str] = []
    carried: dict[int, list] = {}  # column → [rows left, text]
    for number, row in enumerate(rows):
        if walker.cells > MAX_CELLS:
            lines.append("[The table goes on.]")
            break
        if walker.skips("tr", row.attributes):
            continue
        cells, is_header = _row(walker, row, len(rows) - number, carried, depth)
        walker.cells += len(cells)
        texts = [text for text in cells if text]
        if not texts:
            continue
        across = len(cells) > 1 and len(set(texts)) == 1 and (is_header or len(texts) == 1) and _spans(row, len(cells))
        if across:
            cells = [texts[0]]
        if is_header and not lines and not (across and header):
            header = cells if not header else _under(header, cells)
        else:
            lines.append(_line(cells))
    width = max([len(header), *(line.count(" | ") + 1 for line in lines[:50])])
    header += [""] * (width - len(header))
    return [_line(header), _line(["---"] * width), *lines] if lines or any(header) else []


def _under(header: list[str], cells: list[str]) -> list[str]:
    """The cells of a second header row joined to those above them."""
    width = max(len(header), len(cells))
    pairs = zip(header + [""] * (width - len(header)), cells + [""] * (width - len(cells)), strict=True)
    return [above if below in ("", above) else f"{above} {below}".strip() for above, below in pairs]


def _row(walker: Walker, row: LexborNode, rows_left: int, carried: dict, depth: int) -> tuple[list[str], bool]:
    cells: list[str] = []
    is_header = True

    def carry() -> None:
        while (above := carried.get(len(cells))) is not None:
            above[0] -= 1
            if above[0] <= 0:
                del carried[len(cells)]
            cells.append(above[1])

    for cell in cells_of(row):
        carry()
        attributes = cell.attributes
        is_header = is_header and cell.tag == "th"
        separator = " " if cell.tag == "th" else "; "
        text = "" if walker.skips(cell.tag, attributes) else cell_text(walker, cell, depth, separator)
        width, height = attributes.get("colspan"), attributes.get("rowspan")
        height = min(_span(height), rows_left) if height else 1
        for column in range(min(_span(width), max(1, MAX_COLUMNS - len(cells))) if width else 1):
            shown = text if column == 0 or cell.tag == "th" else ""
            if height > 1:
                carried[len(cells)] = [height - 1, shown]
            cells.append(shown)
    carry()
    return cells, is_header


def _span(value: str | None) -> int:
    return max(1, int(value)) if value and len(value) < 6 and value.isdecimal() else 1


def _spans(row: LexborNode, width: int) -> bool:
    first = next(cells_of(row), None)
    return first is not None and _span(first.attributes.get("colspan")) >= width


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(text.replace("|", "\\|") for text in cells) + " |"


# ------------------------------------------------------------------------------------------------ infoboxes


def infobox_rows(walker: Walker, table: LexborNode, depth: int, nested: int = 0) -> list[tuple[str, str]]:
    """(key, value) for each row; key "" for a line that has none. A heading over nothing is left out."""
    found: list[tuple[str, str]] = []
    headings: set[int] = set()  # indexes in found
    rows, caption = rows_of(table)
    if caption is not None and (text := cell_text(walker, caption, depth, " ")):
        found.append(("", text))
    for row in rows:
        if walker.skips("tr", row.attributes):
            continue
        heads, values = [], []
        for cell in cells_of(row):
            attributes = cell.attributes
            if walker.skips(cell.tag, attributes) or (not heads and _is_picture(cell, attributes)):
                continue
            inner = cell.css_first("table") if cell.tag == "td" and nested < MAX_NESTED else None
            if inner is not None and _span(attributes.get("colspan") or "2") > 1:
                if len(inner.css("td")) > MAX_NESTED_CELLS:
                    continue  # a periodic table, a calendar: navigation
                found += infobox_rows(walker, inner, depth + 1, nested + 1)
            elif text := cell_text(walker, cell, depth, " " if cell.tag == "th" else "; "):
                (heads if cell.tag == "th" else values).append(text)
        if heads and values:
            found.append((_key(" / ".join(heads)), " | ".join(values)))
        elif len(values) == 2 and len(values[0]) < 60:
            found.append((_key(values[0]), values[1]))
        elif heads:
            headings.add(len(found))
            found.append(("", " | ".join(heads)))
        elif len(values) == 1 and len(found) - 1 in headings and len(found) > 1 and len(found[-1][1]) < 60:
            headings.discard(len(found) - 1)
            found[-1] = (_key(found[-1][1]), values[0])  # a heading across the box, then its value
        elif values:
            found.append(("", " | ".join(values)))
    while len(found) > 1 and len(found) - 1 in headings:
        headings.discard(len(found) - 1)
        found.pop()  # "Signature", over a picture
    titles = {title.casefold() for title in walker.titles}
    return [(key, value) for key, value in found if value.count("; ") <= 40 and (key or value.casefold() not in titles)]


def _key(text: str) -> str:
    return text.rstrip(" :：")


def _is_picture(cell: LexborNode, attributes: dict) -> bool:
    """A cell across the box that holds a picture and its caption."""
    return (
        cell.tag == "td"
        and _span(attributes.get("colspan") or "9") > 1
        and "infobox-data" not in (attributes.get("class") or "")
        and cell.css_first("img,figure") is not None
    )
