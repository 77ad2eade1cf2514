"""Generated from protos/radrag/knowledge/v1 by `make protos`."""
