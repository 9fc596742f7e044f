"""The samples table: the rows of every module in this folder.

A module states ``SAMPLES = [Sample(...), ...]`` after ``from samples.table import Sample``.
"""

import importlib
import pkgutil

from samples.table import Sample

SAMPLES: list[Sample] = [
    row
    for module in pkgutil.iter_modules(__path__)
    if module.name != "table"
    for row in importlib.import_module(f"{__name__}.{module.name}").SAMPLES
]
