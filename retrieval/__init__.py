"""The index: hybrid search over thematic collections, atomic publication, in-force versions."""
