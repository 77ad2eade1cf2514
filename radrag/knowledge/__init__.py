"""Generated from protos/radrag/knowledge."""
