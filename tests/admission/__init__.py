"""How much is let in."""
