"""Two notebooks in a real JupyterLab, in a real browser: all cells run, and the widgets' buttons do what they say."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ratsearch_lib import Library
from ratsearch_lib.sample import archive_path

ROOT = Path(__file__).resolve().parent.parent
LONG_MS = 120_000  # how long it may take on a busy machine
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DENALI = "How tall is Denali?"
OWN = ("RATSEARCH_ZIM", "RATSEARCH_RECORD", "OPENAI_BASE_URL", "OPENAI_API_KEY")

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (apt install chromium)")


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The address of a JupyterLab that shows a copy of the notebooks, with its token."""
    pytest.importorskip("jupyterlab")
    folder = tmp_path_factory.mktemp("lab")
    shutil.copytree(ROOT / "notebooks", folder / "notebooks", ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    Library.open(archive_path(), build="wait").close()
    env = {name: value for name, value in os.environ.items() if name not in OWN}
    for name in ("RUNTIME_DIR", "CONFIG_DIR", "DATA_DIR"):
        env[f"JUPYTER_{name}"] = str(folder / name)
    settings = folder / "settings" / "@jupyterlab" / "notebook-extension" / "tracker.jupyterlab-settings"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"windowingMode": "none"}')  # all cells are in the page, also those out of sight
    env["JUPYTERLAB_SETTINGS_DIR"] = str(folder / "settings")
    env["PYTHONPATH"], env["JUPYTER_TOKEN"] = str(ROOT), "secret"
    options = ["--no-browser", "--allow-root", "--port=0", "--ServerApp.ip=127.0.0.1", "--LabApp.news_url=None"]
    command = [sys.executable, "-m", "jupyterlab", *options, "--LabApp.check_for_updates_class="
               "jupyterlab.NeverCheckForUpdate", str(folder / "notebooks")]  # fmt: skip
    with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        try:
            for line in process.stderr:
                if found := re.search(r"http://127\.0\.0\.1:(\d+)/lab", line):
                    break
            else:
                pytest.fail("JupyterLab has not started")
            threading.Thread(target=process.stderr.read, daemon=True).start()  # so that it is never full
            yield f"http://127.0.0.1:{found[1]}/lab/workspaces/STEM/tree/STEM.ipynb?token=secret"
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def run_all(browser, lab, name):
    """The page of a notebook whose cells have all run."""
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.set_default_timeout(LONG_MS)
    page.goto(lab.replace("STEM", name.removesuffix(".ipynb")))
    page.locator(".jp-Notebook .jp-CodeCell").first.wait_for()
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    file = json.loads((ROOT / "notebooks" / name).read_text(encoding="utf-8"))
    n = sum(cell["cell_type"] == "code" for cell in file["cells"])
    page.wait_for_function(
        """n => {
            const shell = document.querySelector(".jp-Notebook");
            const last = [...shell.querySelectorAll(".jp-CodeCell")].pop();
            return last && last.querySelector(".jp-InputPrompt").textContent.trim() === `[${n}]:`;
        }""",
        arg=n,
    )
    assert page.locator("[data-mime-type='application/vnd.jupyter.stderr']").count() == 0
    return page


def test_the_chat_answers_and_is_cleared(lab, browser):
    page = run_all(browser, lab, "00_quickstart.ipynb")
    box = page.get_by_placeholder("Ask the encyclopedia")
    box.scroll_into_view_if_needed()
    chat = page.locator(".jp-OutputArea-output").filter(has=box)
    answer = chat.locator("blockquote", has_text="6,190 m")
    answer.first.wait_for()
    before = answer.count()
    chat.get_by_role("button", name="New").click()
    answer.first.wait_for(state="detached")
    box.fill(DENALI)
    chat.get_by_role("button", name="Send").click()
    answer.first.wait_for()
    assert answer.count() == before == 1
    call = chat.locator("details", has_text="read_article | Denali")
    assert call.locator("pre").first.is_hidden()
    call.locator("summary").click()
    assert "6,190 m (20,310 ft) tall" in call.inner_text()
    box.fill("Who has recorded this?")
    box.press("Enter")
    chat.get_by_text("holds no such request").wait_for()
    page.close()


def test_the_explorer_unfolds_a_message(lab, browser):
    page = run_all(browser, lab, "04_api_json.ipynb")
    title = page.locator(".jupyter-widget-Collapse-header", has_text="user · What does it eat")
    title.scroll_into_view_if_needed()
    shown = page.locator("pre", has_text=re.compile("^What does it eat\\?$"))
    assert shown.count() == 0 or shown.first.is_hidden()
    title.click()
    shown.first.wait_for()
    page.close()
