"""What the notebooks begin with: an archive to read and a model to ask, real ones where there are any.

    RATSEARCH_ZIM      an archive of your own, instead of the sample encyclopedia
    OPENAI_BASE_URL    a chat server (and OPENAI_API_KEY), instead of the replies recorded in recordings/
    RATSEARCH_RECORD   set to anything, with a server: what it replies is recorded anew

With an archive of your own and no server the small model that comes with ratsearch answers: nobody has recorded
replies about that archive.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
RECORDINGS = HERE / "recordings"
DATA = HERE.parents[1] / "shared" / "data"  # judged queries and real pages, for those who have them

sys.path.insert(0, str(HERE.parent))  # where ratsearch_lib lies, installed or not

import httpx2  # noqa: E402

from ratsearch_lib import ChatClient, Library, LocalServer, ReplayClient, Transcript  # noqa: E402
from ratsearch_lib.sample import archive_path  # noqa: E402


def zim_path() -> Path:
    """The archive that the notebooks read."""
    own = os.environ.get("RATSEARCH_ZIM")
    return Path(own) if own else archive_path()


def open_library() -> Library:
    """The archive with the index of its titles, which is built once, with a progress bar."""
    from ratsearch_lib.widgets import ProgressWidget

    with ProgressWidget("Indexing titles, once") as progress:
        return Library.open(zim_path(), build="wait", progress=progress)


def open_client(recording: str, **options) -> ChatClient | ReplayClient:
    """A model to ask, and a line that says which: a server's, the embedded one, or the one that was recorded."""
    file = RECORDINGS / f"{recording}.jsonl"
    url = os.environ.get("OPENAI_BASE_URL")
    if not url and "RATSEARCH_ZIM" not in os.environ:
        client = ReplayClient(file)
        print(f"Replies of {client.model}, recorded. To ask a model yourself, set OPENAI_BASE_URL.")
        return client
    if not url:
        return _embedded(options)
    client = ChatClient(url, api_key=os.environ.get("OPENAI_API_KEY"), **{"temperature": 0, **options})
    print(f"{client.find_model()} at {client.base_url}.")
    if "RATSEARCH_RECORD" in os.environ:
        file.unlink(missing_ok=True)
        return Transcript(file).recording(client)
    return client


def _embedded(options: dict) -> ChatClient:
    from ratsearch_lib.chat.local import embedded_weights

    server = LocalServer(embedded_weights())
    atexit.register(server.close)
    client = ChatClient(server.base_url, api_key=server.api_key, **{"temperature": 0, **options})
    print(f"{client.find_model()}, the small model that comes with ratsearch.")
    return client


def open_http(recording: str) -> httpx2.Client:
    """Plain HTTP to the chat server: GET /props, POST /v1/chat/completions …; or to the recording of one."""
    file = RECORDINGS / f"{recording}.jsonl"
    url = os.environ.get("OPENAI_BASE_URL", "")
    if not url:
        print("A recorded server. To talk to one yourself, set OPENAI_BASE_URL.")
        return httpx2.Client(base_url="http://recorded", transport=httpx2.MockTransport(_Recorded(file)))
    root = re.sub(r"/v1/?$", "", url if "://" in url else f"http://{url}")
    key = os.environ.get("OPENAI_API_KEY")
    client = httpx2.Client(base_url=root, headers={"Authorization": f"Bearer {key}"} if key else {}, timeout=900)
    print(f"The server at {root}.")
    if "RATSEARCH_RECORD" in os.environ:
        file.unlink(missing_ok=True)
        return httpx2.Client(base_url=root, transport=httpx2.MockTransport(_Recorder(client, file)))
    return client


class _Recorded:
    """Replies from a file, a line each: what was asked, and what came."""

    def __init__(self, file: Path):
        self._replies = {}
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            self._replies[_asked(row["method"], row["path"], row["body"])] = row

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        row = self._replies.get(_asked(request.method, request.url.path, _body(request)))
        if row is None:
            return httpx2.Response(404, json={"error": {"message": "This was not recorded: set OPENAI_BASE_URL."}})
        return _response(row)


class _Recorder:
    """Passes requests on, each once, and writes down what comes."""

    def __init__(self, client: httpx2.Client, file: Path):
        self._client, self._file = client, file
        self._rows: dict[str, dict] = {}

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        body = _body(request)
        asked = _asked(request.method, request.url.path, body)
        if asked not in self._rows:
            reply = self._client.request(request.method, request.url.path, json=body)
            text = re.sub(r'("model_path":\s*")[^"]*/', r"\1", reply.text)  # whose machine it was is nobody's business
            row = {"method": request.method, "path": request.url.path, "body": body, "status": reply.status_code}
            self._rows[asked] = row | {"type": reply.headers["content-type"], "reply": text}
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(self._rows[asked], ensure_ascii=False) + "\n")
        return _response(self._rows[asked])


def _response(row: dict) -> httpx2.Response:
    return httpx2.Response(row["status"], headers={"content-type": row["type"]}, text=row["reply"])


def _body(request: httpx2.Request):
    return json.loads(request.content) if request.content else None


def _asked(method: str, path: str, body: object) -> str:
    return json.dumps([method, path, body], sort_keys=True)


def check(answer: object, is_right: Callable[[object], bool]) -> bool:
    """Whether an exercise is solved; says so. `...` is no answer yet."""
    right = answer is not ... and bool(is_right(answer))
    print("Right." if right else "Replace the dots, then run the cell again." if answer is ... else "Not yet.")
    return right


def ratio(large: float, small: float) -> str:
    """ "about 40 times", roughly: figures of one machine mean little on another."""
    times = large / small
    return f"about {times:.0f} times" if times < 10 else f"about {round(times, 1 - len(str(int(times)))):,.0f} times"


def judged_queries(folder: Path) -> Path:
    """A data folder for the benchmarks of titles: the real one where it is, else one made of the sample in `folder`.

    RATSEARCH_SAMPLE, set to anything, asks for the sample's.
    """
    if DATA.is_dir() and "RATSEARCH_SAMPLE" not in os.environ:
        print("Real queries and 605,066 titles, from ../shared/data.")
        return DATA
    import gzip

    archive = Library.open(archive_path(), build="never").archive
    entries = list(archive.entries())
    (folder / "queries").mkdir(parents=True)
    with gzip.open(folder / "titles.txt.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(entry.title for entry in entries))
    redirects = [f"{each.title}\t{archive.follow(each).title}" for each in entries if each.redirect_path]
    (folder / "redirects.tsv").write_text("\n".join(["from\tto", *redirects]), encoding="utf-8")
    rows = [row.split("\t") for row in (HERE / "queries.tsv").read_text(encoding="utf-8").splitlines()[1:]]
    queries = [json.dumps({"set": kind, "query": query, "gold": gold.split("|")}) for kind, query, gold in rows]
    (folder / "queries" / "title_queries.jsonl").write_text("\n".join(queries), encoding="utf-8")
    print(f"{len(queries)} queries about the sample encyclopedia.")
    return folder
