"""Generated from protos/radrag/assistant/v1 by `make protos`."""
