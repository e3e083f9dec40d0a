"""The page, in a real browser: app.py as a child process, with the embedded model once, else a scripted server."""

import itertools
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from threading import Timer
from urllib.parse import urlsplit

import pytest

from ratsearch_lib.sample import archive_path

from .conformance.server import (
    HOLD,
    Request,
    ScriptedServer,
    error_reply,
    finish,
    progress,
    reasoning,
    say,
    sse,
    text,
    tool_call,
    usage,
)
from .hostile import HOSTILE_TITLE, INJECTIONS, hostile_archive

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
TIMEOUT_MS = 60_000  # for a busy machine
START_S = 180

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="needs Debian's chromium")

REPLY = itertools.count(1)
ARTICLE = "archive/hostile.zim/House/Of_rats"


@contextmanager
def running_app(*options: str, **environ: str):
    """`python app.py` on a free port; yields its address when it says that it is ready."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = [sys.executable, "app.py", "--port", port, *options]
    environ = os.environ | {"PYTHONFAULTHANDLER": "1"} | environ
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environ
    )
    overdue = Timer(START_S, process.send_signal, [signal.SIGABRT])  # it says where it stands, and ends
    overdue.start()
    try:
        said = []
        for line in process.stdout:
            said.append(line)
            if found := re.match(r"http://127\.0\.0\.1:\d+/", line):
                break
        else:
            pytest.fail("app.py did not start:\n" + "".join(said))
        overdue.cancel()
        yield found[0]
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=20)[0]
        assert process.returncode == 0, rest
        assert "Traceback" not in "".join(said) + rest
    finally:
        overdue.cancel()
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-background-networking"]
        )
        playwright.expect.set_options(timeout=TIMEOUT_MS)
        yield browser
        browser.close()


@contextmanager
def visit(browser, url: str, headers=None):
    """A visitor's page. Whatever was done on it, nothing was asked of another address and no script of others ran."""
    asked, refused, dialogs = set(), set(), []  # refused: by the policy of an article's frame, before it was asked
    context = browser.new_context(extra_http_headers=headers)
    context.on("request", lambda request: asked.add(request.url))
    context.on("requestfailed", lambda request: refused.add(request.url) if by_frame(request) else None)
    page = context.new_page()
    page.set_default_timeout(TIMEOUT_MS)
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.goto(url)
    page.get_by_text("on this machine").wait_for()
    yield page
    if not page.is_closed():
        assert page.evaluate("window.pwned") is None
    assert {urlsplit(address).hostname for address in asked - refused} - {None} == {"127.0.0.1"}  # None: data:, blob:
    assert all(urlsplit(address).hostname == "evil.example" or address == url + "logout" for address in refused)
    assert dialogs == []
    context.close()


def by_frame(request) -> bool:
    return request.failure == "csp" and request.frame.parent_frame is not None


def ask(page, question: str) -> None:
    box = page.get_by_role("textbox", name="Question")
    box.fill(question)
    box.press("Enter")
    page.locator("#chat .user.message").filter(has_text=question).last.wait_for()


def answered(page, timeout_ms: int = TIMEOUT_MS) -> None:
    """Wait until the answer is complete."""
    page.locator("#box .submit-button").wait_for(timeout=timeout_ms)


def answers(page):
    return page.locator("#chat .bot.message")


def panel(page, title: str):
    return page.locator("#chat .thought-group").filter(has=page.locator("> .title", has_text=title)).last


def unfold(page, title: str):
    panel(page, title).locator("> .title").click()
    return panel(page, title)


def test_the_classic_question_with_the_embedded_model(browser, weights):
    with running_app("--temperature", "0") as url, visit(browser, url) as page:
        from playwright.sync_api import expect

        expect(page.locator("#header")).to_contain_text("SmolLM2-135M")
        page.get_by_text("What's the largest mammal in North America?").click()
        page.locator("#chat .user.message").wait_for()
        answered(page, 3 * TIMEOUT_MS)
        expect(answers(page).last).to_contain_text(re.compile("bison", re.I))
        expect(unfold(page, "read_article").first).to_contain_text("Read: American bison")


# A scripted server, and an archive whose every text is hostile


def script(request: Request):
    messages = request.json["messages"]
    turn = max(index for index, message in enumerate(messages) if message["role"] == "user")
    question, results = messages[turn]["content"], [each for each in messages[turn:] if each["role"] == "tool"]
    match question:
        case "Read for ever":
            return sse(progress(512, 2210), HOLD)
        case "Write for ever":
            return sse(reasoning("Hm."), text("Once upon "), text("a time"), HOLD)
        case "Fail":
            return error_reply(401, "no key")
        case "What do rats cost?":
            if not results:
                calls = tool_call("read_article", {"title": "Rat"}), tool_call("divide", {"a": 1}, id="c2", index=1)
                return sse(
                    progress(2210, 2210), reasoning("Read *Rat*."), *calls, finish("tool_calls"), usage(2210, 57)
                )
            return say("**Rats** cost $3000 and $3000. \\(E = mc^2\\)")
        case "Where do rats sleep in the house?":
            if not results:
                return sse(*tool_call("read_article", {"title": "House of rats"}), finish("tool_calls"))
            return say("In blue wool: [the rat](https://en.wikipedia.org/wiki/Rat) does, [or not](Nobody).")
        case "What is a rat, and what does it weigh?":
            if not results:
                return sse(*tool_call("read_article", {"title": "House of rats"}), finish("tool_calls"))
            return say("The rats sleep in a nest of blue wool. A rat weighs 4,321 kg.")
        case "Attack":
            if len(results) < 2:
                attack = "\n\n".join(INJECTIONS)
                call = ("read_article", {"title": HOSTILE_TITLE}) if results else (INJECTIONS[1], {"x": attack})
                return sse(reasoning(attack), text(attack), tool_call(*call), finish("tool_calls"))
            return sse(*(text(injection + "\n\n") for injection in INJECTIONS), text("The end."), finish())
    asked = [message["content"] for message in messages if message["role"] == "user"]
    return say(f"You asked: {' | '.join(asked)}. Reply {next(REPLY)}.")


@pytest.fixture(scope="module")
def server():
    with ScriptedServer(script) as server:
        yield server


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("app")


@pytest.fixture(scope="module")
def url(server, folder):
    archive = hostile_archive(folder / "hostile.zim")
    options = ("--zim", str(archive), "--endpoint", server.base_url, "--concurrency", "1")
    with running_app(*options, XDG_DATA_HOME=str(folder)) as url:
        yield url


@pytest.fixture
def page(browser, url, server):
    server.holding.clear()
    server.closed.clear()
    with visit(browser, url) as page:
        yield page


def test_how_an_answer_comes_about(page):
    from playwright.sync_api import expect

    expect(page.locator("#header")).to_contain_text("hostile.zim")
    expect(page.locator("#header")).to_contain_text("scripted at")
    expect(page.locator("#chat")).to_contain_text("`encyclopedia`")
    ask(page, "What do rats cost?")
    answered(page)
    last = answers(page).last
    expect(last).to_contain_text("Rats cost $3000 and $3000.")
    expect(last.locator("strong", has_text="Rats")).to_be_visible()
    expect(last.locator(".katex")).to_have_count(1)

    # All are folded now that they are done; a result stands open inside its call.
    expect(page.get_by_text("A rat is a rodent")).to_have_count(0)
    expect(unfold(page, "Thought").locator("em", has_text="Rat")).to_be_visible()
    call = unfold(page, "read_article | Rat")
    expect(call).to_contain_text('"title": "Rat"')
    expect(call).to_contain_text(re.compile(r"\(\d+(\.\d+)?m?s\)"))
    expect(call).to_contain_text("Read: Rat")
    expect(call).to_contain_text("A rat is a rodent <b>.")
    expect(unfold(page, "divide | 1 failed")).to_contain_text("There is no tool")


def test_a_mark_after_a_sentence_opens_the_passage_that_bears_it_out(page):
    from playwright.sync_api import expect

    ask(page, "What is a rat, and what does it weigh?")
    answered(page)
    expect(page.get_by_text("1 of 2 sentences found in House of rats.")).to_be_visible()
    expect(answers(page).filter(has_text="4,321 kg. [?]")).to_have_count(1)
    page.get_by_role("link", name="[1]").click()
    expect(page.locator("#reader h2")).to_have_text("House of rats")
    nest = page.frame_locator("#reader iframe").get_by_text("sleep in a nest of blue wool")
    expect(nest).to_be_in_viewport()
    assert nest.evaluate("each => getComputedStyle(each).backgroundColor") == "rgb(255, 241, 184)"
    page.keyboard.press("Escape")


def test_what_was_read_opens_beside_the_answer(page):
    from playwright.sync_api import expect

    ask(page, "Where do rats sleep in the house?")
    answered(page)
    page.get_by_role("link", name="House of rats").click()
    reader, article = page.locator("#reader"), page.frame_locator("#reader iframe")
    expect(reader.locator("h2")).to_have_text("House of rats")
    nest = article.get_by_text("sleep in a nest of blue wool")
    expect(nest).to_be_in_viewport()
    assert nest.evaluate("each => getComputedStyle(each).backgroundColor") == "rgb(255, 241, 184)"
    room = article.get_by_text("Room 3 of").evaluate("each => getComputedStyle(each).backgroundColor")
    assert room == "rgba(0, 0, 0, 0)"
    assert article.locator("#here").evaluate("each => each.naturalWidth") == 1

    article.get_by_text("Out", exact=True).click()
    expect(reader).to_contain_text("This link leaves the archive: http://evil.example/out")
    article.get_by_text("Run", exact=True).click()
    article.get_by_text("The rat", exact=True).click()
    expect(reader.locator("h2")).to_have_text("Rat")
    reader.get_by_role("button", name="Close").click()
    expect(reader).to_have_count(0)
    expect(page.get_by_role("link", name="House of rats")).to_be_focused()

    page.get_by_role("link", name="the rat").click()
    expect(reader.locator("h2")).to_have_text("Rat")
    page.keyboard.press("Escape")
    page.get_by_role("link", name="or not").click()
    expect(article.locator("body")).to_have_text('The archive has no "Nobody".')


def test_pages_of_the_archive_are_served_with_a_policy_of_their_own(page, url):
    answer = page.request.get(url + "archive/hostile.zim/House/Of_rats")
    policy = answer.headers["content-security-policy"]
    assert "script" not in policy.replace("sandbox allow-same-origin", "")
    assert "default-src 'none'" in policy
    assert "'self'" not in policy.split("img-src")[1].split(";")[0]
    for path in ("archive/other.zim/rat", "archive/hostile.zim/../../app.py", "archive/hostile.zim/", "archive/"):
        assert page.request.get(url + path).status == 404, path


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", ARTICLE, {}, 200),
        ("GET", ARTICLE, {"Host": "[::1]:7860", "Origin": "http://evil.example"}, 403),
        ("GET", ARTICLE, {"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:1"}, 403),
        ("GET", ARTICLE, {"Sec-Fetch-Site": "same-origin", "Origin": "https://rat.example"}, 200),
        ("POST", "gradio_api/upload", {}, 403),
        ("GET", "gradio_api/deep_link?session_hash=x", {}, 403),
    ],
)
def test_no_other_sites_page_may_ask_and_nobody_may_upload(url, method, path, headers, status):
    with closing(HTTPConnection(urlsplit(url).netloc, timeout=60)) as connection:
        connection.request(method, "/" + path, headers=headers)
        assert connection.getresponse().status == status


@pytest.mark.parametrize(("question", "seen"), [("Read for ever", "512 of 2210"), ("Write for ever", "Once upon")])
def test_stop_closes_the_request(page, server, question, seen):
    from playwright.sync_api import expect

    ask(page, question)
    assert server.holding.wait(60)
    expect(answers(page).last).to_contain_text(seen)
    assert not server.closed.is_set()
    box = page.get_by_role("textbox", name="Question")
    box.fill("Too early?")
    box.press("Enter")
    page.locator("#box .stop-button").click()
    assert server.closed.wait(5)
    answered(page)
    expect(box).to_have_value("Too early?")
    expect(page.locator("#chat .user.message")).to_have_count(1)
    expect(answers(page).last).to_contain_text("Stopped.")
    if question == "Write for ever":
        expect(answers(page).last).to_contain_text("Once upon a time")
    ask(page, "And now?")
    expect(page.get_by_text("You asked:")).to_contain_text("And now?")


def test_closing_the_tab_closes_the_request(page, server):
    ask(page, "Read for ever")
    assert server.holding.wait(60)
    page.close()
    assert server.closed.wait(10)


def test_hostile_text_does_nothing(page):
    from playwright.sync_api import expect

    ask(page, "Attack")
    expect(answers(page).last).to_contain_text("The end.")
    answered(page)
    for title in page.locator("#chat .thought-group > .title").all():
        title.click()
    for injection in ("<script>window.pwned=1</script>", "![](http://evil.example/b.png)"):
        expect(answers(page).last).to_contain_text(injection)
    expect(page.locator("#chat .message").locator("img, iframe, form, style, link, script")).to_have_count(0)
    expect(page.locator("#chat a[href*='javascript' i]")).to_have_count(0)
    ask(page, INJECTIONS[1])
    expect(page.locator("#chat .user.message").last).to_have_text(INJECTIONS[1])
    answered(page)


def test_going_back(page, server):
    from playwright.sync_api import expect

    asked = page.locator("#chat .user.message")
    for question in ("One *?", "Two?"):
        ask(page, question)
        answered(page)
    expect(answers(page).last).to_contain_text("You asked: One *? | Two?.")

    before = answers(page).last.inner_text()
    page.get_by_role("button", name="Retry").click()
    expect(answers(page).last).not_to_have_text(before)
    answered(page)
    expect(asked).to_have_count(2)
    questions = [message["content"] for message in server.requests[-1].json["messages"] if message["role"] == "user"]
    assert questions == ["One *?", "Two?"]

    page.get_by_role("button", name="Undo").click()
    expect(asked).to_have_count(1)
    expect(page.get_by_role("textbox", name="Question")).to_have_value("Two?")

    page.get_by_role("button", name="Edit").first.click()
    page.locator("#chat textarea").fill("Three?")
    page.get_by_role("button", name="Submit").first.click()
    expect(answers(page).last).to_contain_text("You asked: Three?.")
    answered(page)

    page.get_by_role("button", name="New chat").click()
    expect(asked).to_have_count(0)
    ask(page, "Four?")
    expect(answers(page).last).to_contain_text("You asked: Four?.")


def test_an_edit_to_nothing_changes_nothing(page, server):
    from playwright.sync_api import expect

    asked = page.locator("#chat .user.message")
    for question in ("One?", "Two?"):
        ask(page, question)
        answered(page)
    page.get_by_role("button", name="Edit").first.click()
    page.locator("#chat textarea").fill("  ")
    page.get_by_role("button", name="Submit").first.click()
    expect(asked).to_have_text(["One?", "Two?"])
    ask(page, "Three?")
    answered(page)
    questions = [message["content"] for message in server.requests[-1].json["messages"] if message["role"] == "user"]
    assert questions == ["One?", "Two?", "Three?"]


def test_an_answer_after_new_chat_can_be_stopped(page, server):
    from playwright.sync_api import expect

    ask(page, "Write for ever")
    assert server.holding.wait(60)
    server.holding.clear()
    page.get_by_role("button", name="New chat").click()
    ask(page, "Read for ever")
    assert server.closed.wait(10)
    assert server.holding.wait(60)
    expect(answers(page).last).to_contain_text("512 of 2210")
    server.closed.clear()
    page.locator("#box .stop-button").click()
    assert server.closed.wait(10)
    answered(page)
    expect(page.locator("#chat .user.message")).to_have_count(1)


def test_visitors_do_not_see_each_other(page, browser, url):
    from playwright.sync_api import expect

    ask(page, "Secret one?")
    answered(page)
    with visit(browser, url) as other:
        expect(other.locator("#chat .user.message")).to_have_count(0)
        ask(other, "Two?")
        expect(answers(other).last).to_contain_text("You asked: Two?.")


def test_a_server_that_fails_is_explained(page):
    from playwright.sync_api import expect

    ask(page, "Fail")
    expect(answers(page).last).to_contain_text("Error.")
    expect(answers(page).last).to_contain_text(re.compile("key", re.I))
    answered(page)


# Beside the chat


def open_sidebar(page, *accordions: str) -> None:
    page.locator("#side .toggle-button").click()
    for name in accordions:
        page.locator("#side button.label-wrap", has_text=name).click()


def asked(server) -> list[str]:
    """The questions of the last request."""
    return [message["content"] for message in server.requests[-1].json["messages"] if message["role"] == "user"]


def test_conversations_are_kept_in_the_browser(page, server, tmp_path):
    from playwright.sync_api import expect

    ask(page, "Is it *kept*?")
    answered(page)
    expect(page.locator("#meter")).to_contain_text(re.compile(r"\d+ of 4,096 tokens"))
    page.get_by_role("button", name="New chat").click()
    ask(page, "Two?")
    answered(page)
    page.reload()
    expect(page.locator("#chat .user.message")).to_have_text("Two?")

    open_sidebar(page)
    kept = page.locator("#kept")
    expect(kept.locator(".open")).to_have_text(["Two?", "Is it *kept*?"])
    kept.get_by_role("button", name="Is it *kept*?").click()
    expect(page.locator("#chat .user.message")).to_have_text("Is it *kept*?")
    ask(page, "Still?")
    answered(page)
    assert asked(server) == ["Is it *kept*?", "Still?"]

    kept.locator("li").first.locator("summary").click()
    kept.get_by_role("button", name="Rename").first.click()
    kept.get_by_label("New name").fill("<b>Mine</b>")
    kept.get_by_label("New name").press("Enter")
    expect(kept.locator(".open")).to_have_text(["<b>Mine</b>", "Two?"])
    for label, ending in (("Export (JSON)", ".json"), ("Export (Markdown)", ".md")):
        kept.locator("li").first.locator("summary").click()
        with page.expect_download() as download:
            kept.get_by_role("button", name=label).first.click()
        assert download.value.suggested_filename.endswith(ending)
        download.value.save_as(tmp_path / f"kept{ending}")
        kept.locator("li").first.locator("summary").click()
    assert "## Is it *kept*?\n\nYou asked: Is it *kept*?" in (tmp_path / "kept.md").read_text("utf-8")

    kept.locator("li").first.locator("summary").click()
    kept.get_by_role("button", name="Delete").first.click()
    kept.get_by_role("button", name="Really delete?").click()
    expect(kept.locator(".open")).to_have_text(["Two?"])
    page.get_by_role("button", name="New chat").click()
    kept.locator("input[type=file]").set_input_files(tmp_path / "kept.json")
    expect(page.locator("#chat .user.message")).to_have_text(["Is it *kept*?", "Still?"])
    expect(kept.locator(".open")).to_have_text(["Is it *kept*?", "Two?"])
    (tmp_path / "bad.json").write_text('{"ratsearch": 1, "turns": "<img src=x onerror=window.pwned=1>"}')
    kept.locator("input[type=file]").set_input_files(tmp_path / "bad.json")
    expect(page.get_by_text("This is no conversation that ratsearch has kept")).to_be_visible()


def test_the_oldest_conversation_makes_room(page):
    from playwright.sync_api import expect

    page.evaluate("""
        for (const [id, time] of [["old", 1], ["new", 2]]) localStorage.setItem("ratsearch:conversation:" + id, "x");
        localStorage.setItem("ratsearch:list", JSON.stringify(
            [{ id: "old", name: "Old", time: 1, chars: 2e6 }, { id: "new", name: "New", time: 2, chars: 1999900 }]))
    """)
    ask(page, "Is there room?")
    answered(page)
    open_sidebar(page)
    expect(page.locator("#kept .open")).to_have_text(["Is there room?", "New"])
    expect(page.locator("#kept")).to_contain_text("The oldest conversation was removed")
    assert page.evaluate("localStorage.getItem('ratsearch:conversation:old')") is None


def test_settings_of_one_visitor(page, server, browser, url):
    from playwright.sync_api import expect

    open_sidebar(page, "Settings", "Archive", "Server")
    expect(page.locator("#archive")).to_contain_text("Bad <img src=x onerror=window.pwned=1> `encyclopedia`")
    expect(page.locator("#archive")).to_contain_text("eng")
    page.get_by_label("Temperature").fill("0.5")
    page.get_by_label("Token budget").fill("77")
    with page.expect_response(lambda response: "Be a rat." in (response.request.post_data or "")):
        page.get_by_label("System prompt").fill("Be a rat.")
    ask(page, "Hello?")
    answered(page)
    sent = server.requests[-1].json
    assert (sent["temperature"], sent["max_tokens"]) == (0.5, 77)
    assert sent["messages"][0] == {"role": "system", "content": "Be a rat."}

    page.get_by_label("Address").fill(server.base_url)
    page.get_by_role("button", name="Test").click()
    expect(page.locator("#verdict")).to_contain_text("It answers. Its models: scripted")
    page.get_by_label("Address").fill("127.0.0.1:1")
    page.get_by_role("button", name="Test").click()
    expect(page.locator("#verdict")).not_to_contain_text("It answers.")
    expect(page.locator("#verdict")).to_contain_text("127.0.0.1:1")
    with visit(browser, url, {"X-Forwarded-For": "192.0.2.1"}) as other:
        ask(other, "Hello?")
        answered(other)
        assert server.requests[-1].json["messages"][0]["content"] != "Be a rat."
        open_sidebar(other, "Settings")
        expect(other.get_by_label("Temperature")).to_be_visible()
        expect(other.locator("#side button.label-wrap")).to_have_text([re.compile("Settings"), re.compile("Archive")])


def test_waiting_in_line_and_escape(page, server, browser, url):
    from playwright.sync_api import expect

    ask(page, "Read for ever")
    assert server.holding.wait(60)
    with visit(browser, url) as other:
        ask(other, "And me?")
        expect(answers(other).last).to_contain_text("Waiting: 1 question before this one")
        page.keyboard.press("Escape")
        expect(answers(page).last).to_contain_text("Stopped.")
        expect(answers(other).last).to_contain_text("You asked: And me?.")


def test_enter_twice_asks_once_and_the_edit_box_shows_what_was_typed(page, server):
    from playwright.sync_api import expect

    before = len(server.requests)
    box = page.get_by_role("textbox", name="Question")
    box.fill("Is a[0] \\*b*?")
    box.press("Enter")
    box.press("Enter")
    answered(page)
    expect(page.locator("#chat .user.message")).to_have_text(["Is a[0] \\*b*?"])
    assert len([each for each in server.requests[before:] if each.path.endswith("/completions")]) == 1
    page.get_by_role("button", name="Edit").first.click()
    edit = page.locator("#chat textarea")
    edit.focus()
    expect(edit).to_have_value("\u2060Is a[0] \\*b*?")
    page.get_by_role("button", name="Submit").first.click()
    expect(page.locator("#chat .user.message")).to_have_text(["Is a[0] \\*b*?"])
    answered(page)
    assert asked(server) == ["Is a[0] \\*b*?"]


def test_thumbs(page, folder):
    ask(page, "Good?")
    answered(page)
    page.get_by_role("button", name="Like", exact=True).click()
    ask(page, "And now?")
    answered(page)
    last = json.loads((folder / "ratsearch" / "feedback.jsonl").read_text("utf-8").splitlines()[-1])
    assert (last["liked"], last["question"], last["archive"]) == (True, "Good?", "hostile.zim")


def test_a_script_asks(url):
    from gradio_client import Client

    client = Client(url, verbose=False, analytics_enabled=False)
    answer = client.predict("Where do rats sleep in the house?", api_name="/ask")
    assert answer["answer"].startswith("In blue wool")
    assert answer["sources"] == [{"title": "House of rats", "source": "hostile.zim/House/Of_rats"}]
    assert [each["sentence"][:12] for each in answer["sentences"]] == ["In blue wool"]


def test_the_owner_adds_an_archive(page, browser, url, folder):
    """The last of those that share this page: they would meet the sample's articles, too."""
    from playwright.sync_api import expect

    with visit(browser, url, {"X-Forwarded-For": "192.0.2.1"}) as other:
        open_sidebar(other, "Archive")
        expect(other.get_by_label("Add an archive")).to_be_hidden()
    sample = folder / "sample.zim"
    shutil.copy(archive_path(), sample)
    open_sidebar(page, "Archive")
    add = page.get_by_role("button", name="Add", exact=True)
    for path, said in (
        (folder / "none.zim", "none.zim"),
        (sample, "is read, too"),
        (sample, "Two archives are called"),
    ):
        page.get_by_label("Add an archive").fill(str(path))
        add.click()
        expect(page.locator("#added")).to_contain_text(said)
    expect(page.locator("#archive dl")).to_have_count(2)
    expect(page.locator("#header")).to_contain_text("hostile.zim and sample.zim")
    page.goto(f"{url}archive/?title=American%20bison")
    expect(page).to_have_url(re.compile("/archive/sample.zim/"))


def test_only_who_knows_the_password_comes_in(browser, server, folder):
    from playwright.sync_api import expect

    archive = hostile_archive(folder / "locked.zim")
    options = ("--zim", str(archive), "--endpoint", server.base_url)
    with running_app(*options, RATSEARCH_AUTH="rat:cheese") as url:
        context = browser.new_context()
        page = context.new_page()
        page.goto(url)
        assert page.request.get(url + "archive/locked.zim/rat").status == 401
        page.get_by_label("username").fill("rat")
        page.get_by_label("password").fill("cheese")
        page.get_by_role("button", name="Login").click()
        expect(page.locator("#header")).to_contain_text("locked.zim")
        assert page.request.get(url + "archive/locked.zim/rat").status == 200
        context.close()


def test_an_archive_that_is_not_there_ends_the_program_with_a_sentence():
    command = [sys.executable, "app.py", "--zim", "nowhere.zim"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert "nowhere.zim" in ended.stderr
    assert "Traceback" not in ended.stderr
