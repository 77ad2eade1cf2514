"""Generated from protos/radrag/assistant."""
