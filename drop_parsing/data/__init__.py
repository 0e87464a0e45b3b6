"""DROP data: the types, the reader of every accepted form, and the metric."""
