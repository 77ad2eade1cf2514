"""The dashboards, one a module."""
