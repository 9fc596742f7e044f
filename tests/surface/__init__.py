"""What of NumPy's and SciPy's surface has derivatives: measured, not listed.

`names` enumerates every public callable, `record` notes which of them the samples call, `probe` calls the
rest with traced arguments, and `page` writes ``docs/coverage.md``. `tests/test_coverage.py` fails for a
callable with any other outcome than a right derivative, a constant, or an error that says so.
"""
