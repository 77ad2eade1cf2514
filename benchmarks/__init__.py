"""How fast it is, against its own limits and against peers."""
