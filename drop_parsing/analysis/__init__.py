"""What the tables keep and what the forms mean, measured."""
