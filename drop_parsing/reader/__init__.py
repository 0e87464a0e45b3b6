"""Reading comprehension models: encoders times answer heads, NAQANet among them."""
