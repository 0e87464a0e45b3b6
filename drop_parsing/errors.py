"""The error that a user can mend."""


class InputError(ValueError):
    """Bad usage or bad input: one sentence that says what is wrong, where, and what to do.

    The command line prints it and exits with status 2.
    """
