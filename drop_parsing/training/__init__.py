"""Training: presets, checkpoints without pickles, and runs that go on where they stopped."""
