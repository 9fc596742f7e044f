"""The base of all errors."""


class FuncgradError(Exception):
    """The base of all errors of this library: `except FuncgradError` catches them together."""
