"""Answers scored by a judge: a model behind an endpoint, what it fails at, and how far it may be believed."""
