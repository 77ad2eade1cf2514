"""The command line: `radrag …` and `python -m cli` are the same."""
