"""How fast FRIDA and Qwen3-Reranker are on an accelerator. Runs in the model servers' environment."""
