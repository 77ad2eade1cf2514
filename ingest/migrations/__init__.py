"""How the catalogue's tables came to be, step by step; each step is run once, when a database is opened."""
