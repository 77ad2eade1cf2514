"""How RadRAG is run for others."""
