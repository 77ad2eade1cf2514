"""The whole thing: real Triton, real retrieval, real gateway, as processes."""
