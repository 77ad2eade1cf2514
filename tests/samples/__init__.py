"""Tests of the samples room."""
