"""The Gradio page's parts that are not layout.

conversation (a visitor's turns) · kept (as the browser keeps them) · messages (panels as Gradio takes them) · inert
(what a model writes) · answering (settings, agents) · line (who waits) · articles (the archive's pages, for the reader)
· about (archive and model in words) · sidebar · feedback · serving (where, to whom) · headers (what the browser
refuses) · page.js, reader.js, kept.js · page.css, parts.css · rat.svg
"""
