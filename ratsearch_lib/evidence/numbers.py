"""Numbers as values with their units, however they are written."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBER = re.compile(r"(?<![\w.,])\d{1,3}(?:[ \u00a0\u2009\u202f]\d{3})+(?![\d.,]*\d)|\d+(?:[.,]\d+)*")
_AFTER = re.compile(r"[\s\u00a0-]*([%‰°€$£]?\s?[^\W\d_]+|[%‰°])?")
_RANGE = re.compile(r"\s*(?:[-–—/]|to\b|and\b|or\b|bis\b|à\b|a\b)\s*(?=\d)")
_SCALES = {
    "thousand": 3, "million": 6, "billion": 9, "trillion": 12, "millionen": 6, "milliarden": 9, "millions": 6,
    "milliards": 9, "millones": 6, "mio": 6, "mrd": 9, "bn": 9,
}  # fmt: skip
_UNITS = {
    spelling: line.split()[0]
    for line in """kg kilogram kilograms kilogramme kilogrammes kilogramm
    g gram grams gramm
    t tonne tonnes ton tons
    km kilometre kilometres kilometer kilometers
    m metre metres meter meters mètres
    cm centimetre centimetres centimeter centimeters
    mm millimetre millimetres millimeter millimeters
    lb lbs pound pounds
    ft foot feet
    in inch inches
    mi mile miles
    % percent prozent
    h hour hours stunden heures
    min minute minutes
    s second seconds
    day days
    week weeks
    month months
    year years jahre ans años
    °c celsius
    °f fahrenheit
    k kelvin
    l litre litres liter liters
    ha hectare hectares
    acre acres
    mph
    hz hertz
    w watt watts
    v volt volts""".splitlines()
    for spelling in line.split()
}


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text: as it is written with its unit, what it may mean, and which unit it has ("": none known)."""

    written: str
    values: frozenset[str]
    unit: str
    end: int


def numbers(text: str) -> list[Number]:
    """The numbers of `text` in order.

    >>> [(n.written, sorted(n.values), n.unit) for n in numbers("1,270 kg in 1912")]
    [('1,270 kg', ['1.27', '1270'], 'kg'), ('1912', ['1912'], '')]
    """
    found = []
    for match in _NUMBER.finditer(text):
        digits = match[0]
        if len(digits) > 40:
            continue
        after = _AFTER.match(text, match.end())
        word = (after[1] or "").replace(" ", "").casefold()
        end, values = match.end(), _values(digits)
        if word in _SCALES:
            values |= {_scaled(value, _SCALES[word]) for value in values}
            end = after.end()
            word = (_AFTER.match(text, end)[1] or "").replace(" ", "").casefold()
        unit = _UNITS.get(word, "")
        written = text[match.start() : _AFTER.match(text, end).end() if unit else end]
        found.append(Number(written, frozenset(values), unit, match.end()))
    return _ranges(text, found)


def _ranges(text: str, found: list[Number]) -> list[Number]:
    """Gives the first number of "3 to 4 m" the unit of the second."""
    for i in range(len(found) - 2, -1, -1):
        if not found[i].unit and found[i + 1].unit and _RANGE.match(text, found[i].end):
            found[i] = Number(found[i].written, found[i].values, found[i + 1].unit, found[i].end)
    return found


def _values(digits: str) -> set[str]:
    """What the digits may mean: a comma or a full stop before three digits may part thousands or begin a fraction."""
    if not digits.isdigit() and not {".", ","} & set(digits):  # parted by spaces
        return {"".join(digits.split())}
    parts = re.split("[.,]", digits)
    whole = parts[0].lstrip("0") or "0"
    if len(parts) == 1:
        return {whole}
    values = set()
    if all(len(part) == 3 for part in parts[1:]) and len(parts[0]) < 4 and parts[0] != "0":
        values.add(whole + "".join(parts[1:]))
    if len(parts) == 2:
        values.add(_plain(f"{whole}.{parts[1]}"))
    elif all(len(part) == 3 for part in parts[1:-1]):
        values.add(_plain(f"{whole}{''.join(parts[1:-1])}.{parts[-1]}"))
    return values or {digits}


def _plain(value: str) -> str:
    return value.rstrip("0").rstrip(".") if "." in value else value


def _scaled(value: str, power: int) -> str:
    whole, _, fraction = value.partition(".")
    moved = whole + fraction[:power].ljust(power, "0")
    return _plain(f"{moved.lstrip('0') or '0'}.{fraction[power:]}")
