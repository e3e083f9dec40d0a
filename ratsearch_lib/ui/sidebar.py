"""The sidebar: kept conversations, a visitor's settings, and what is the owner's to set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import kiwix
from .answering import MAX_PROMPT_CHARS, MODES, Settings

if TYPE_CHECKING:
    import gradio as gr

KEPT = '<h2>Conversations</h2><div id="kept"></div>'


@dataclass(frozen=True, slots=True)
class Sidebar:
    """Its components. `settings` are those of `Settings`, in its order, and the owner's token; `owners` only the owner
    sees."""

    settings: list[gr.components.Component]
    owners: list[gr.blocks.BlockContext]
    token: gr.Textbox
    address: gr.Textbox
    key: gr.Textbox
    test: gr.Button
    verdict: gr.HTML
    model: gr.Dropdown
    archive: gr.HTML
    path: gr.Textbox
    add: gr.Button
    added: gr.HTML
    downloads: kiwix.Downloads
    chosen: gr.Textbox
    open: gr.Button
    markdown: gr.Button
    made: gr.Textbox


def build(defaults: Settings, *, asks_token: bool) -> Sidebar:
    import gradio as gr

    with gr.Sidebar(open=False, elem_id="side", width=310):
        gr.HTML(KEPT, padding=False)
        with gr.Accordion("Settings", open=False):
            model = gr.Dropdown([], label="Model", info="empty: the server's first", allow_custom_value=True)
            mode = gr.Dropdown(
                list(MODES),
                value=defaults.mode,
                label="Mode",
                info="tools: the model looks things up; guided: ratsearch does, for models that cannot",
            )
            temperature = gr.Textbox(
                "" if defaults.temperature is None else f"{defaults.temperature:g}",
                label="Temperature",
                placeholder="the server's",
                max_length=20,
            )
            max_tokens = gr.Textbox(label="Token budget", placeholder="of one reply: no limit", max_length=20)
            max_steps = gr.Number(
                defaults.max_steps,
                label="Maximum steps",
                info="readings a question",
                minimum=1,
                maximum=50,
                precision=0,
            )
            keep = gr.Checkbox(False, label="Keep reasoning", info="in what the model is sent again")
            prompt = gr.Textbox(
                defaults.system_prompt, label="System prompt", lines=4, max_lines=10, max_length=MAX_PROMPT_CHARS
            )
        with gr.Accordion("Archive", open=False):
            archive = gr.HTML(elem_id="archive", padding=False)
            with gr.Column(visible=False) as adding:
                path = gr.Textbox(
                    label="Add an archive", placeholder="/path/to/FILE.zim", info="a file on this machine"
                )
                add = gr.Button("Add", size="sm")
                added = gr.HTML(elem_id="added", padding=False)
                downloads = kiwix.build()
        token = gr.Textbox(label="Owner's token", type="password", visible=asks_token)
        with gr.Accordion("Server", open=False, visible=False) as server:
            address = gr.Textbox(label="Address", placeholder="localhost:8080", info="empty: as it was started")
            key = gr.Textbox(label="API key", type="password", info="sent there only; not kept")
            test = gr.Button("Test", size="sm")
            verdict = gr.HTML(elem_id="verdict", padding=False)
        chosen = gr.Textbox(visible="hidden")
        opens = gr.Button("Open", elem_id="open-kept", visible="hidden")
        markdown = gr.Button("As Markdown", elem_id="kept-as-markdown", visible="hidden")
        made = gr.Textbox(visible="hidden")
    settings = [address, key, model, mode, temperature, max_tokens, prompt, max_steps, keep, token]
    owners = [server, adding]
    return Sidebar(
        settings,
        owners,
        token,
        address,
        key,
        test,
        verdict,
        model,
        archive,
        path,
        add,
        added,
        downloads,
        chosen,
        opens,
        markdown,
        made,
    )
