"""Generated from protos/radrag/retrieval/v1 by `make protos`."""
