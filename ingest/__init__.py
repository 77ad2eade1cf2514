"""The corpus path: files in, approved passages out, each with its exact place in its document."""
