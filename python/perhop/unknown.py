"""Errors about names that nothing has. Other `LookupError`s are perhop's own faults."""


class UnknownError(LookupError, ValueError):
    """What was asked for is not there; the message says what is."""

    def __str__(self) -> str:
        return str(self.args[0])


class UnknownKeyError(UnknownError, KeyError):
    """The same, where a `KeyError` is promised."""
