"""Tests of the gateway room."""
