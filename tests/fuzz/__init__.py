"""Hostile input, made up by the thousand."""
