"""Rules of cleaning: each finds one kind of apparatus or damage in a text, in either language."""
