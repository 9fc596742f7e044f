"""The libraries, behind one interface; one that is not installed is absent from `LIBRARIES`.

Reverse mode is what each documents as its ordinary way. For the product of a Hessian with a vector that
is forward over reverse mode, but for PyTorch, whose double backward is faster.
"""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}


class Library:
    """A library with JAX's names for its transforms.

    Every method returns a call without arguments, made ready as far as an eager library can.
    """

    def __init__(self, name: str):
        self.name = name
        self.module = importlib.import_module(name)
        self.np = importlib.import_module(f"{name}.numpy")

    def array(self, x: Any) -> Any:
        return x

    def gradient(self, f: Callable, x: Any) -> Callable:
        return lambda: self.module.grad(f)(x)

    def product(self, f: Callable, x: Any, v: Any) -> Callable:
        return lambda: self.module.jvp(self.module.grad(f), (x,), (v,))[1]

    def hessian(self, f: Callable, x: Any) -> Callable:
        return lambda: self.module.hessian(f)(x)

    def training(self, f: Callable, params: list) -> Callable:
        gradient = self.gradient(f, params)
        return lambda: [w - 0.01 * g for w, g in zip(params, gradient())]

    def gradients(self, f: Callable, rows: Any) -> Callable:
        return lambda: self.module.vmap(self.module.grad(f))(rows)

    def samples(self, f: Callable, params: list, images: Any, labels: Any) -> Callable:
        return lambda: self.module.vmap(self.module.grad(f), (None, 0, 0))(params, images, labels)

    def tape(self, f: Callable, x: Any) -> Any:
        """Whatever holds the tape of ``f(x)``."""
        return self.module.vjp(f, x)


class Funcgrad(Library):
    def __init__(self, name: str):
        super().__init__(name)
        self.np = np  # plain NumPy is its promise


class Looping(Library):
    """A library without vmap: a loop over the batch."""

    def gradients(self, f, rows):
        return lambda: np.stack([self.module.grad(f)(x) for x in rows])

    def samples(self, f, params, images, labels):
        def call():
            members = [self.module.grad(f)(params, *member) for member in zip(images, labels)]
            return [np.stack(parts) for parts in zip(*members)]

        return call


class Autograd(Looping):
    def product(self, f, x, v):
        return lambda: self.module.make_jvp(self.module.grad(f))(x)(v)[1]

    def tape(self, f, x):
        return self.module.make_vjp(f)(x)


class Advect(Looping):
    def product(self, f, x, v):
        return lambda: self.module.jvp(self.module.grad(f))(x, tangents=v)[1]

    def tape(self, f, x):
        return self.module.vjp(f)(x)


class Jax(Library):
    def __init__(self, name: str):
        super().__init__(name)
        self.module.config.update("jax_enable_x64", True)

    def array(self, x):
        return [self.np.asarray(a) for a in x] if isinstance(x, list) else self.np.asarray(x)

    def _finished(self, call):
        return lambda: self.module.block_until_ready(call())

    def gradient(self, f, x):
        return self._finished(super().gradient(f, x))

    def product(self, f, x, v):
        return self._finished(super().product(f, x, v))

    def hessian(self, f, x):
        return self._finished(super().hessian(f, x))

    def training(self, f, params):
        return self._finished(super().training(f, params))

    def gradients(self, f, rows):
        return self._finished(super().gradients(f, rows))

    def samples(self, f, params, images, labels):
        return self._finished(super().samples(f, params, images, labels))


class Torch(Library):
    def __init__(self, name: str):
        self.name = name
        self.module = self.np = importlib.import_module(name)
        self.module.set_num_threads(1)

    def array(self, x):
        if isinstance(x, list):
            return [self.array(a) for a in x]
        return self.module.tensor(x, dtype=self.module.float64 if isinstance(x, float) else None)

    def gradient(self, f, x):
        def call():
            if not isinstance(x, list):
                leaf = x.detach().requires_grad_()
                return self.module.autograd.grad(f(leaf), leaf)[0]
            leaves = [a.detach().requires_grad_() for a in x]
            return self.module.autograd.grad(f(leaves), leaves)

        return call

    def product(self, f, x, v):
        def call():
            leaf = x.detach().requires_grad_()
            (gradient,) = self.module.autograd.grad(f(leaf), leaf, create_graph=True)
            return self.module.autograd.grad(gradient, leaf, v)[0]

        return call

    def hessian(self, f, x):
        return lambda: self.module.func.hessian(f)(x)

    def gradients(self, f, rows):
        func = self.module.func
        return lambda: func.vmap(func.grad(f))(rows)

    def samples(self, f, params, images, labels):
        func = self.module.func
        return lambda: func.vmap(func.grad(f), (None, 0, 0))(params, images, labels)

    def tape(self, f, x):
        return f(x.detach().requires_grad_())


KINDS = {"funcgrad": Funcgrad, "autograd": Autograd, "advect": Advect, "torch": Torch, "jax": Jax}


def load(names) -> tuple[dict[str, Library], dict[str, str]]:
    """The installed libraries among some, and why the others are missing."""
    found, missing = {}, {}
    for name in names:
        try:
            found[name] = KINDS[name](name)
        except ImportError as error:
            missing[name] = str(error)
    return found, missing
