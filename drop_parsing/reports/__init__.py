"""HTML pages of results; no analysis here."""
