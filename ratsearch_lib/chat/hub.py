"""Model files of the Hugging Face hub: ``hf:owner/repo:file.gguf``, fetched once into the cache folder."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ..cache import cache_folder
from ..errors import DownloadError, ModelError
from ..fetch import Progress, Source, fetch_whole, open_client

NAME = r"\w[\w.-]{0,95}"
MODEL = re.compile(rf"hf:({NAME}/{NAME}):((?:{NAME}/)*\w[\w.+-]{{0,200}}\.gguf)", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model that suits: it calls tools by its own template. `memory_gb` is about what it needs with its context."""

    name: str
    size_bytes: int
    memory_gb: int
    licence: str


KNOWN_MODELS = (
    KnownModel("hf:Qwen/Qwen3-0.6B-GGUF:Qwen3-0.6B-Q8_0.gguf", 639_000_000, 2, "Apache-2.0"),
    KnownModel("hf:Qwen/Qwen3-1.7B-GGUF:Qwen3-1.7B-Q8_0.gguf", 1_834_426_016, 4, "Apache-2.0"),
    KnownModel("hf:Qwen/Qwen3-4B-GGUF:Qwen3-4B-Q4_K_M.gguf", 2_497_280_256, 6, "Apache-2.0"),
    KnownModel("hf:Qwen/Qwen3-8B-GGUF:Qwen3-8B-Q4_K_M.gguf", 5_030_000_000, 9, "Apache-2.0"),
    KnownModel("hf:ggml-org/gpt-oss-20b-GGUF:gpt-oss-20b-mxfp4.gguf", 12_109_566_624, 16, "Apache-2.0"),
)


def hub_file(model: str) -> Path:
    """Where the file of ``hf:owner/repo:file.gguf`` is, or will be. ModelError where that is no such name."""
    match = MODEL.fullmatch(model)
    if match is None or ".." in model:
        raise ModelError(
            f"{model[:200]} names no model file: write hf:OWNER/REPO:FILE.gguf, as `ratsearch model list` does."
        )
    return cache_folder("models") / match[1].replace("/", "--") / match[2]


def hub_weights(
    model: str, progress: Progress | None = None, *, download: bool = True, endpoint: str | None = None
) -> Path:
    """The file of ``hf:owner/repo:file.gguf``, fetched if it is not here, resumed where that stopped, and verified.

    `progress(done, total)` counts bytes. `endpoint` is another hub's address. Private and gated models want a token, as
    `hf auth login` keeps it. ModelError if it is not here and cannot, or (`download=False`) may not, be fetched.
    """
    path = hub_file(model)
    if path.is_file():
        return path
    if not download:
        raise ModelError(f"{model} is not here yet, and may not be downloaded.")
    try:
        with open_client() as client:
            fetch_whole(client, _source(model, endpoint), path, progress)
    except DownloadError as error:
        raise ModelError(str(error)) from error
    return path


def _source(model: str, endpoint: str | None) -> Source:
    """Where the hub has the file, its size and its SHA-256, which is the entity tag of every large file."""
    import httpx2
    from huggingface_hub import get_hf_file_metadata, hf_hub_url
    from huggingface_hub.errors import EntryNotFoundError, GatedRepoError, HfHubHTTPError, RepositoryNotFoundError
    from huggingface_hub.utils import build_hf_headers

    repo, file = MODEL.fullmatch(model).groups()
    url = hf_hub_url(repo, file, endpoint=endpoint)
    host = url.split("/")[2].rpartition("@")[2]
    try:
        found = get_hf_file_metadata(url, endpoint=endpoint)
    except GatedRepoError as error:
        raise ModelError(f"{repo} asks to accept its terms first: do that at {host}, then `hf auth login`.") from error
    except RepositoryNotFoundError as error:
        raise ModelError(
            f"{host} has no model {repo}, or it is private: check the name, or `hf auth login`."
        ) from error
    except EntryNotFoundError as error:
        raise ModelError(f"{repo} has no file {file}: look at its files on {host}.") from error
    except (HfHubHTTPError, httpx2.HTTPError, OSError) as error:
        status = getattr(getattr(error, "response", None), "status_code", None)
        said = f"HTTP {status}" if status else " ".join(str(error).split())[:200]
        raise ModelError(f"{host} cannot be asked for {file} ({said}): check the connection.") from error
    if not found.size or not re.fullmatch("[0-9a-f]{64}", found.etag or ""):
        raise ModelError(f"{host} publishes no checksum of {file}, so it is not downloaded.")
    headers = {name: value for name, value in build_hf_headers().items() if name.lower() == "authorization"}
    return Source(Path(file).name, found.size, found.etag, (url,), headers=headers)
