"""SciPy's namespace, differentiable: ``from funcgrad.scipy import special, linalg``.

Submodules are loaded when they are asked for, as SciPy's are: `import funcgrad` needs and loads none of it.
What has no counterpart here is SciPy's own.
"""

import importlib as _importlib
from pathlib import Path as _Path

try:
    import scipy as _scipy
except ImportError as error:
    raise ImportError(
        "funcgrad.scipy lays derivatives over SciPy, which is not installed; write `pip install scipy`"
    ) from error

#: The submodules that have derivatives: the files and folders beside this one.
_SUBMODULES = sorted(
    path.stem
    for path in _Path(__file__).parent.iterdir()
    if not path.name.startswith(("_", ".")) and (path.suffix == ".py" or path.is_dir())
)

__all__ = list(_SUBMODULES)


def __getattr__(name):
    if name in _SUBMODULES:
        return _importlib.import_module(f"{__name__}.{name}")
    return getattr(_scipy, name)


def __dir__():
    return sorted({*globals(), *_SUBMODULES, *dir(_scipy)})
