"""The Gradio page's parts that are not layout: conversation (a visitor's turns) · messages (panels as Gradio takes
them) · about (the archive and the model in words) · headers (what the browser refuses) · page.css, page.js, rat.svg."""
