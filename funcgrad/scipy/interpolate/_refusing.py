"""Classes of SciPy's that have no derivative here: they say so, and what to take instead."""

from __future__ import annotations

from typing import Any

from funcgrad.scipy._mirror import has_tracer, refuse


def refusing(cls: type, name: str, instead: str) -> type:
    """A class of SciPy's that refuses traced values when it is made and when it is called."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if has_tracer((args, kwargs)):
            refuse(f"scipy.interpolate.{name}", instead)
        super(made, self).__init__(*args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if has_tracer((args, kwargs)):
            refuse(f"scipy.interpolate.{name}", instead)
        return super(made, self).__call__(*args, **kwargs)

    methods = {"__init__": __init__, "__doc__": cls.__doc__, "__module__": "funcgrad.scipy.interpolate"}
    if any("__call__" in vars(base) for base in cls.__mro__):
        methods["__call__"] = __call__
    made = type(cls)(name, (cls,), methods)
    return made
