"""The expert study: who rates what, the sheets they fill in, and what their ratings say."""
