"""TeX formulas as the markup that MediaWiki renders them to: MathML that carries its TeX along."""

import html
import re

TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:[.,]\d+)*|\S")
SYMBOLS = {
    "\\gamma": "γ", "\\varepsilon": "ε", "\\zeta": "ζ", "\\lambda": "λ", "\\mu": "μ", "\\pi": "π", "\\phi": "φ",
    "\\Delta": "Δ", "\\infty": "∞", "\\partial": "∂", "\\lim": "lim", "\\ln": "ln", "\\log": "log",
}  # fmt: skip
OPERATORS = {
    "\\times": "×",
    "\\cdot": "⋅",
    "\\leq": "≤",
    "\\to": "→",
    "\\sum": "∑",
    "\\ldots": "…",
    "\\cdots": "⋯",
    "-": "−",
}


def math_element(tex: str, *, block: bool = False) -> str:
    r"""The `mwe-math-element` of a formula.

    >>> 'encoding="application/x-tex">{\\displaystyle a^{2}}<' in math_element("a^{2}")
    True
    """
    shown = html.escape("{\\displaystyle " + tex + "}")
    body, _ = _row(TOKEN.findall(tex), 0)
    kind, display = ("display", ' display="block"') if block else ("inline", "")
    return (
        f'<span class="mwe-math-element mwe-math-element-{kind if block else "inline"}">'
        f'<span class="mwe-math-mathml-{kind} mwe-math-mathml-a11y">'
        f'<math{display} xmlns="http://www.w3.org/1998/Math/MathML" alttext="{shown}"><semantics>'
        f'<mrow class="MJX-TeXAtom-ORD"><mstyle displaystyle="true" scriptlevel="0">{body}</mstyle></mrow>'
        f'<annotation encoding="application/x-tex">{shown}</annotation></semantics></math></span></span>'
    )


def _row(tokens: list[str], at: int) -> tuple[str, int]:
    """MathML of the tokens from `at` to the brace that closes their group, and the index after it."""
    parts: list[str] = []
    while at < len(tokens) and tokens[at] != "}":
        if tokens[at] in "^_":
            tag = "msup" if tokens[at] == "^" else "msub"
            script, at = _atom(tokens, at + 1)
            base = parts.pop() if parts else "<mrow></mrow>"
            parts.append(f"<{tag}>{base}{script}</{tag}>")
        else:
            part, at = _atom(tokens, at)
            parts.append(part)
    return "".join(parts), at + 1


def _atom(tokens: list[str], at: int) -> tuple[str, int]:
    """MathML of one group, command or character, and the index after it."""
    token = tokens[at]
    if token == "{":
        body, at = _row(tokens, at + 1)
        return f"<mrow>{body}</mrow>", at
    if token == "\\frac":
        above, at = _atom(tokens, at + 1)
        below, at = _atom(tokens, at)
        return f"<mfrac>{above}{below}</mfrac>", at
    if token == "\\sqrt":
        body, at = _atom(tokens, at + 1)
        return f"<msqrt>{body}</msqrt>", at
    if token == "\\dot":
        body, at = _atom(tokens, at + 1)
        return f"<mover>{body}<mo>˙</mo></mover>", at
    if token == "\\mathrm":
        end = tokens.index("}", at)
        return f"<mtext>{html.escape(''.join(tokens[at + 2 : end]))}</mtext>", end + 1
    if token == "\\quad":
        return '<mspace width="1em"></mspace>', at + 1
    if token[0].isdigit():
        return f"<mn>{token}</mn>", at + 1
    if token.isalpha() or token in SYMBOLS:
        return f"<mi>{SYMBOLS.get(token, token)}</mi>", at + 1
    if token.startswith("\\") and token not in OPERATORS:
        raise ValueError(f"a formula of the sample uses {token}, which mathml.py does not know")
    return f"<mo>{html.escape(OPERATORS.get(token, token))}</mo>", at + 1
