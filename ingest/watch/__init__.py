"""Watches folders and web pages: what is new or changed is read and put up for review, never published."""
