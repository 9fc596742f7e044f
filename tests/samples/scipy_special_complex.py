"""SciPy's special functions of complex numbers, where it has them."""

import numpy as np
import scipy.special as sc

import funcgrad.scipy.special as fsc
from samples.table import Sample

x = np.array([0.6, 1.1, 2.3])

#: Functions of one number, some with several results.
PLAIN = [
    sc.erf, sc.erfc, sc.erfcx, sc.erfi, sc.dawsn, sc.wofz, sc.ndtr, sc.log_ndtr, sc.gamma, sc.loggamma,
    sc.rgamma, sc.psi, sc.exp1, sc.expi, sc.expm1, sc.log1p, sc.spence, sc.wrightomega, sc.airy, sc.airye,
    sc.fresnel, sc.shichi, sc.sici, fsc.lambertw,
]  # fmt: skip
#: Functions with plain arguments in front.
STEERED = {
    "jv": (1.3,), "yv": (1.3,), "iv": (0.7,), "kv": (0.7,), "jve": (1.3,), "yve": (1.3,), "ive": (0.7,),
    "kve": (0.7,), "hankel1": (1.3,), "hankel2": (1.3,), "hankel1e": (0.7,), "hankel2e": (0.7,),
    "hyp0f1": (1.3,), "hyp1f1": (0.6, 1.3), "hyp2f1": (0.6, 1.3, 1.7), "eval_legendre": (3,),
    "eval_chebyt": (3,), "eval_jacobi": (3, 0.6, 1.2), "eval_genlaguerre": (3, 0.6),
    "eval_gegenbauer": (3, 0.6), "spherical_jn": (2,), "spherical_yn": (2,), "spherical_in": (2,),
    "spherical_kn": (2,),
}  # fmt: skip


def row(name, f, *args):
    """Of real points too, so that batches and programs meet complex numbers."""
    return Sample(
        f"special-complex-{name}", lambda *xs: f(*[x * (1 + 0.5j) for x in xs]), args, ("f8", "c16")
    )


def steered(name, front):
    return lambda z: getattr(fsc, name)(*front, z)


SAMPLES = [
    *[row(f.__name__, f, x) for f in PLAIN],
    *[row(name, steered(name, front), x) for name, front in STEERED.items()],
    row("psi-left", sc.psi, -x),
    row("xlogy", sc.xlogy, x, 2 * x),
    row("xlog1py", sc.xlog1py, x, 2 * x),
    row("elliprc", sc.elliprc, x, 2 * x),
    row("elliprf", sc.elliprf, x, 2 * x, 3 * x),
    row("elliprd", sc.elliprd, x, 2 * x, 3 * x),
    row("elliprg", sc.elliprg, x, 2 * x, 3 * x),
    row("elliprj", sc.elliprj, x, 2 * x, 3 * x, x + 0.5),
]
