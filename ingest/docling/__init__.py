"""The one door to Docling: PDF and DOCX to Markdown, on rules where Docling's own models are absent.

Runs in a child process (`ingest.readers`), because native parsers crash, hang and never give memory back.
"""
