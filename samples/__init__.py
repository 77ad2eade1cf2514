"""A small bilingual knowledge base for trying and testing RadRAG: a sample, not clinical advice."""
