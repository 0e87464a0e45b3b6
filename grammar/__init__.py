"""Middle floor: the typed logical-form language over one table, its executor and its search."""
