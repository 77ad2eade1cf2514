"""The catalogue: every document version ever taken in, its texts, its state, and who decided what and why."""
