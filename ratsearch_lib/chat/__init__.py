"""One chat server that speaks the OpenAI API: found, started, asked; its quirks normalised to deltas."""
