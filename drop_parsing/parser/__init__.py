"""The KDG-style parser: question and table to well-typed logical forms, learnt by marginal likelihood."""
