"""Who may come in, and what they may do: tokens, keys, certificates, roles."""
