"""Tests of the model_repository room."""
