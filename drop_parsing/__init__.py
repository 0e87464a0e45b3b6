"""Top floor: DROP questions answered by semantic parsing over extracted tables, and by reading."""

__version__ = "0.1.0"
