"""Bytes → text: which encoding a file is in, told from its bytes alone."""

from __future__ import annotations

import codecs
import re

SAMPLE_BYTES = 65_536
MAX_BAD = 1 / 200  # of a text's bytes that may be wrong in an encoding which it is in nevertheless

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROL = bytes(set(range(32)) - {7, 8, 9, 10, 11, 12, 13, 27})
# The commonest letters beyond ASCII of the languages that each encoding is used for.
_WESTERN = "àâäáãåæçèéêëìíîïñòóôöõøœùúûüýÿßÀÂÄÁÇÈÉÊÍÓÖÚÜ«»°·–—‘’“”…•©®§£€ºª¿¡ß"
_CENTRAL = "ąćęłńóśźżáčďéěíňřšťúůýžőűăâîșțäöüß„”–“"
_CYRILLIC = "оеаинтсрвлкмдпу"
_GREEK = "αοιετσνηυρπκμλς"
_HEBREW = "יוהלאתמרבשנ"
_ARABIC = "اليمنروتبةدع"
_TURKISH = "ıİşŞğĞüöçÜÖÇâ"
_HAN = "的一是不了人我在有他这這为為之大来來以个個中上们們到说說国國和地也子时時道出而要于於就下得可你年生"
_KANA = "のにはをたがでてとしれさあいうえおかきくけこすせそちつなぬねひふへほまみむめもやゆよらりるろわんっ、。ー"
_HANGUL = "이다는을의에가고한를하은지로도기사서인나있자어리그대해일전시수과정보여부아들만"
_LEGACY = (
    ("cp1252", _WESTERN), ("cp1250", _CENTRAL), ("iso8859-2", _CENTRAL), ("cp1251", _CYRILLIC), ("koi8-r", _CYRILLIC),
    ("cp866", _CYRILLIC), ("iso8859-5", _CYRILLIC), ("cp1253", _GREEK), ("cp1255", _HEBREW), ("cp1256", _ARABIC),
    ("cp1254", _TURKISH), ("cp932", _KANA), ("euc_jp", _KANA), ("gb18030", _HAN), ("big5", _HAN), ("cp949", _HANGUL),
)  # fmt: skip
_WIDE = frozenset({"cp932", "euc_jp", "gb18030", "big5", "cp949"})


def decode(data: bytes) -> tuple[str, str] | None:
    """The text of `data` and its encoding's name; None if it is no text.

    >>> decode("déjà vu".encode("latin-1"))
    ('déjà vu', 'cp1252')
    """
    for bom, name in _BOMS:
        if data.startswith(bom):
            text = data.decode(name, "replace")
            return (text, name) if _is_plausible(text) else None
    if (name := _without_bom(data)) is not None:
        return data.decode(name, "replace"), name
    head = data[:SAMPLE_BYTES]
    if b"\0" in head or len(head.translate(None, _CONTROL)) < len(head) * (1 - 1 / 100):
        return None
    data = data.replace(b"\0", b"")
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
    bad = text.count("\ufffd")
    if bad <= max(1, len(data) * MAX_BAD) and sum(c > "\x7f" for c in text[:SAMPLE_BYTES]) > 4 * bad:
        return text, "utf-8"  # damaged in a place or two
    name = _legacy(data)
    return data.decode(name, "replace"), name


def _without_bom(data: bytes) -> str | None:
    """UTF-16 or UTF-32 by where its zeros stand: most texts have ASCII in them."""
    head = data[:4096]
    size = len(head) // 4 * 4
    if size < 8 or head.count(b"\0") * 10 < size * 3:
        return None
    zeros = [head[place:size:4].count(0) * 4 / size for place in range(4)]
    for name, pattern in (("utf-32-le", (0, 1, 1, 1)), ("utf-32-be", (1, 1, 1, 0)), ("utf-16-le", (0, 1, 0, 1)),
                          ("utf-16-be", (1, 0, 1, 0))):  # fmt: skip
        if all(zero > 0.7 if wanted else zero < 0.1 for zero, wanted in zip(zeros, pattern, strict=True)):
            return name if _is_plausible(data[: 4 * 4096].decode(name, "replace")) else None
    return None


def _is_plausible(text: str) -> bool:
    sample = text[:4096]
    odd = sum(c == "\ufffd" or (c < " " and c not in "\t\n\r\f\x1b\b\a\v") for c in sample)
    return odd * 50 <= len(sample)


def _legacy(data: bytes) -> str:
    """The encoding in which the most of what is not ASCII is common letters, in runs as words have them."""
    lines = [line for line in data[: 16 * SAMPLE_BYTES].split(b"\n") if not line.isascii()]
    sample = b"\n".join(lines)[:SAMPLE_BYTES]
    best, best_score = "cp1252", 0.0
    for name, common in _LEGACY:
        try:
            text = sample.decode(name, "strict" if len(sample) < SAMPLE_BYTES else "ignore")
        except UnicodeDecodeError:
            continue
        score = _likeness(text, common, name)
        if score > best_score * 1.05 + 0.01:
            best, best_score = name, score
    return best


def _likeness(text: str, common: str, name: str) -> float:
    beyond = [c for c in text if c > "\x7f"]
    if not beyond:
        return 0.0
    share = sum(c in common for c in beyond) / len(beyond)
    if name in _WIDE:  # thousands of letters: the commonest are a fifth of a text
        odd = sum(not ("\u3000" <= c <= "\u30ff" or "\u4e00" <= c <= "\u9fff" or "\uac00" <= c <= "\ud7a3"
                       or "\uff00" <= c <= "\uff65") for c in beyond)  # fmt: skip
        return min(1.0, share * 3) * (1 - odd / len(beyond))
    in_runs = sum(len(run) for run in re.findall(r"[^\x00-\x7f\s]{3,}", text)) / len(beyond)
    # Latin letters stand singly among those of ASCII, those of other scripts together.
    return share * (1 - in_runs if common in (_WESTERN, _CENTRAL, _TURKISH) else in_runs)
