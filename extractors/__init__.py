"""Ground floor: text -> values -> predicate-argument tables, and the table cache."""
