"""Tests of the ingest room."""
