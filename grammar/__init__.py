"""Middle floor: the typed logical-form language over one table, its executor and its search."""

#: Changes whenever a form may denote something else, or the search's space changes: cached forms depend on it.
LANGUAGE_VERSION = "2"
