"""Tests of the retrieval room."""
