"""The Gradio page's parts that are not layout: conversation (a visitor's turns) · messages (panels as Gradio takes
them) · page.css, page.js, rat.svg."""
