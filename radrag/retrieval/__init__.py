"""Generated from protos/radrag/retrieval."""
