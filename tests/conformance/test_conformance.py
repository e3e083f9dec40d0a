"""Each case of the table, and the table's page."""

import pytest

from .__main__ import GROUPS, PAGE, page
from .case import Case, run

CASES = [case for cases in GROUPS.values() for case in cases]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Case):
    run(case)


def test_the_page_is_up_to_date():
    assert len({case.name for case in CASES}) == len(CASES) >= 60
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.conformance"
