"""HTML to Markdown: the main content of a page with its headings, lists and tables."""
