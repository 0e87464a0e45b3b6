"""Extractors that need an extra installed, chosen by name from ``extractors.registry``."""
