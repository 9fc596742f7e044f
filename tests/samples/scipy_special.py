"""SciPy's special functions of real numbers: every one of its ufuncs, and those written in Python."""

import numpy as np
import scipy.special as sc

import funcgrad.scipy.special as fsc
from funcgrad.scipy.special._gamma import beta_density, digamma_rise, gamma_density
from samples.table import Sample

x = np.array([0.3, 0.6, 0.85])
signed = np.array([-0.7, 0.4, 1.3])
above = np.array([1.4, 2.3, 3.1])
p = np.array([0.2, 0.55, 0.9])


def named(name):
    """A function by its name, so that rows are skipped where this SciPy lacks it."""
    return getattr(sc, name, None) or getattr(sc._ufuncs, name, None)


#: name: the points of all arguments that have a derivative, each an array.
SMOOTH = {
    "erf": (signed,), "erfc": (signed,), "erfcx": (signed,), "erfi": (signed,), "erfinv": (x,),
    "erfcinv": (above - 1.2,), "dawsn": (signed,), "ndtr": (signed,), "log_ndtr": (signed - 1,),
    "ndtri": (p,), "ndtri_exp": (-above,), "nrdtrimn": (p, above, signed),
    "nrdtrisd": (signed, 0.9 * p, above),
    "owens_t": (signed, x), "voigt_profile": (signed, above, x),
    "expit": (signed,), "logit": (p,), "log_expit": (signed,), "exp2": (signed,), "exp10": (signed,),
    "expm1": (signed,), "log1p": (x,), "cbrt": (above,), "cosm1": (signed,), "exprel": (signed,),
    "sindg": (40 * above,), "cosdg": (40 * above,), "tandg": (20 * above,), "cotdg": (20 * above,),
    "radian": (above, x, signed), "_sinpi": (signed,), "_cospi": (signed,), "_log1pmx": (x,),
    "_log1mexp": (-above,), "powm1": (above, signed), "xlogy": (signed, above), "xlog1py": (signed, above),
    "entr": (x,), "rel_entr": (x, above), "kl_div": (x, above), "boxcox": (above, signed),
    "boxcox1p": (x, signed), "inv_boxcox": (x, above), "inv_boxcox1p": (x, above),
    "pseudo_huber": (above, signed), "huber": (np.array([1.0, 0.8, 0.5]), np.array([0.4, -1.5, 2.0])),
    "gamma": (signed,), "gammaln": (signed,), "loggamma": (above,), "rgamma": (signed,), "psi": (signed,),
    "_lgam1p": (x,), "beta": (x, above), "betaln": (x, above), "poch": (above, x), "binom": (above, x),
    "j0": (signed,), "j1": (signed,), "y0": (above,), "y1": (above,), "i0": (signed,), "i1": (signed,),
    "i0e": (signed,), "i1e": (signed,), "k0": (above,), "k1": (above,), "k0e": (above,), "k1e": (above,),
    "ber": (signed,), "bei": (signed,), "ker": (above,), "kei": (above,), "berp": (signed,),
    "beip": (signed,),
    "kerp": (above,), "keip": (above,), "itstruve0": (above,), "it2struve0": (above,),
    "itmodstruve0": (above,),
    "exp1": (above,), "expi": (above,), "spence": (above,), "wrightomega": (signed,),
    "_scaled_exp1": (above,),
    "ellipk": (x,), "ellipkm1": (x,), "ellipe": (x,), "ellipkinc": (signed, x), "ellipeinc": (above, x),
    "agm": (x, above), "elliprc": (x, above), "elliprf": (x, above, 2 * x), "elliprd": (x, above, 2 * x),
    "elliprg": (x, above, 2 * x), "elliprj": (x, above, 2 * x, 0.5 * above),
    "kolmogorov": (x,), "kolmogi": (p,), "tklmbda": (x, signed),
}  # fmt: skip
#: name: the plain arguments in front, and the points of those after them.
STEERED = {
    "jv": ((1.3,), (signed + 1.1,)), "yv": ((1.3,), (above,)), "iv": ((0.7,), (above,)),
    "kv": ((0.7,), (above,)),
    "yn": ((2,), (above,)), "kn": ((2,), (above,)), "ive": ((0.7,), (above,)), "kve": ((1.3,), (above,)),
    "jve": ((1.3,), (above,)), "yve": ((1.3,), (above,)), "struve": ((0.4,), (above,)),
    "modstruve": ((0.4,), (above,)), "expn": ((3,), (above,)), "hyp0f1": ((1.3,), (signed,)),
    "hyp1f1": ((0.6, 1.3), (signed,)), "hyp2f1": ((0.6, 1.3, 1.7), (x - 0.4,)),
    "hyperu": ((0.6, 1.3), (above,)),
    "wright_bessel": ((0.5, 1.2), (x,)), "log_wright_bessel": ((0.5, 1.2), (x,)),
    "gammainc": ((1.7,), (above,)), "gammaincc": ((1.7,), (above,)), "gammaincinv": ((1.7,), (p,)),
    "gammainccinv": ((1.7,), (p,)), "betainc": ((1.7, 2.4), (p,)), "betaincc": ((1.7, 2.4), (p,)),
    "betaincinv": ((1.7, 2.4), (p,)), "betainccinv": ((1.7, 2.4), (p,)), "_zeta": ((2.5,), (above,)),
    "eval_legendre": ((3,), (signed,)), "eval_chebyt": ((3,), (signed,)), "eval_chebyu": ((4,), (signed,)),
    "eval_chebyc": ((3,), (signed,)), "eval_chebys": ((4,), (signed,)), "eval_sh_legendre": ((3,), (signed,)),
    "eval_sh_chebyt": ((3,), (signed,)), "eval_sh_chebyu": ((4,), (signed,)),
    "eval_hermite": ((3,), (signed,)),
    "eval_hermitenorm": ((4,), (signed,)), "eval_laguerre": ((3,), (signed,)),
    "eval_genlaguerre": ((3, 0.6), (signed,)), "eval_gegenbauer": ((3, 0.6), (signed,)),
    "eval_jacobi": ((3, 0.6, 1.2), (signed,)), "eval_sh_jacobi": ((3, 2.6, 1.2), (signed,)),
    "lpmv": ((1, 3), (x,)), "bdtr": ((2, 5), (p,)), "bdtrc": ((2, 5), (p,)), "bdtri": ((2, 5), (p,)),
    "nbdtr": ((2, 5), (p,)), "nbdtrc": ((2, 5), (p,)), "nbdtri": ((2, 5), (p,)), "pdtr": ((2,), (above,)),
    "pdtrc": ((2,), (above,)), "pdtri": ((2,), (p,)), "chdtr": ((3.4,), (above,)),
    "chdtrc": ((3.4,), (above,)),
    "chdtri": ((3.4,), (p,)), "fdtr": ((3.0, 5.0), (above,)), "fdtrc": ((3.0, 5.0), (above,)),
    "fdtri": ((3.0, 5.0), (p,)), "stdtr": ((4.5,), (signed,)), "stdtrit": ((4.5,), (p,)),
    "nctdtr": ((4.5, 0.7), (signed,)), "nctdtrit": ((4.5, 0.7), (p,)), "ncfdtr": ((3.0, 5.0), (above, above)),
    "ncfdtri": ((3.0, 5.0), (above, p)),
    "smirnov": ((5,), (x,)), "smirnovi": ((5,), (p,)),
}  # fmt: skip
#: Functions whose plain arguments stand between the others.
BETWEEN = {
    "gdtr": (lambda a, x: sc.gdtr(a, 1.7, x), (x, above)),
    "gdtrc": (lambda a, x: sc.gdtrc(a, 1.7, x), (x, above)),
    "gdtrix": (lambda a, p: sc.gdtrix(a, 1.7, p), (above, p)),
    "gdtria": (lambda p, x: sc.gdtria(p, 1.7, x), (p, above)),
    "chndtr": (lambda x, nc: sc.chndtr(x, 3.4, nc), (above, x)),
    "chndtrix": (lambda p, nc: sc.chndtrix(p, 3.4, nc), (p, above)),
    "chndtrinc": (lambda x, p: sc.chndtrinc(x, 3.4, p), (above + 1, 0.5 * p)),
    "besselpoly": (lambda a: sc.besselpoly(a, 1.0, 2.0), (x,)),
    "lambertw": (lambda x: sc.lambertw(x), (x,)),
    "lambertw-branch": (lambda x: sc.lambertw(-x / 3, -1), (x,)),
}
#: Functions of several outputs: plain arguments in front, and points.
OUTPUTS = {
    "airy": ((), (signed,)), "airye": ((), (above,)), "itairy": ((), (0.1 * signed,)),
    "fresnel": ((), (signed,)),
    "modfresnelp": ((), (above,)), "modfresnelm": ((), (above,)), "shichi": ((), (above,)),
    "sici": ((), (above,)), "kelvin": ((), (above,)), "itj0y0": ((), (above,)), "iti0k0": ((), (above,)),
    "it2j0y0": ((), (above,)), "it2i0k0": ((), (above,)), "ellipj": ((), (above, x)),
    "pbdv": ((1.3,), (signed,)),
    "pbvv": ((1.3,), (signed,)), "pbwa": ((0.7,), (signed,)), "mathieu_cem": ((2, 1.5), (20 * above,)),
    "mathieu_sem": ((2, 1.5), (20 * above,)), "mathieu_modcem1": ((2, 1.5), (x,)),
    "mathieu_modcem2": ((2, 1.5), (x,)), "mathieu_modsem1": ((2, 1.5), (x,)),
    "mathieu_modsem2": ((2, 1.5), (x,)),
}  # fmt: skip
PROLATE, OBLATE = (1, 2, 1.5, sc.pro_cv(1, 2, 1.5)), (1, 2, 1.5, sc.obl_cv(1, 2, 1.5))
for kind, where in (("ang1", p - 0.5), ("rad1", above)):
    OUTPUTS |= {f"pro_{kind}": (PROLATE[:3], (where,)), f"pro_{kind}_cv": (PROLATE, (where,))}
    OUTPUTS |= {f"obl_{kind}": (OBLATE[:3], (where,)), f"obl_{kind}_cv": (OBLATE, (where,))}


def steered(name, front):
    f = named(name)
    return lambda *args: f(*front, *args)


def spherical(name, derivative):
    f = getattr(fsc, name)
    return lambda z: f(2, z, derivative=derivative)


def row(name, f, args, **kwargs):
    return Sample(f"special-{name}", f, args, **kwargs)


#: Functions that SciPy writes in Python, and our own primitives.
PYTHON = [
    row("logsumexp", lambda a: fsc.logsumexp(a), (signed,)),
    row("logsumexp-axis", lambda a: fsc.logsumexp(a, axis=0, keepdims=True), (np.outer(above, signed),)),
    row("logsumexp-b", lambda a, b: fsc.logsumexp(a, b=b), (signed, above)),
    row("logsumexp-sign", lambda a, b: fsc.logsumexp(a, b=b, return_sign=True)[0], (signed, -above)),
    row("softmax", lambda a: fsc.softmax(a), (signed,)),
    row("softmax-axis", lambda a: fsc.softmax(a, axis=0), (np.outer(above, signed),)),
    row("log_softmax", lambda a: fsc.log_softmax(a, axis=-1), (np.outer(above, signed),)),
    row("softplus", sc.softplus, (signed,)),
    row("polygamma", lambda a: fsc.polygamma(2, a), (above,), dtypes=("f8",)),
    row("multigammaln", lambda a: fsc.multigammaln(a, 3), (above,), dtypes=("f8",)),
    row("comb", lambda n, k: fsc.comb(n, k), (above, x)),
    row("comb-repetition", lambda n, k: fsc.comb(n, k, repetition=True), (above, x)),
    row("perm", lambda n, k: fsc.perm(n, k), (above, x)),
    row("factorial", lambda n: fsc.factorial(n), (above,)),
    row("diric", lambda a: fsc.diric(a, 4), (above,), dtypes=("f8",)),
    row("jvp", lambda a: fsc.jvp(1.3, a, 2), (above,)),
    row("zeta", lambda q: fsc.zeta(2.5, q), (above,)),
    row("assoc_laguerre", lambda a: fsc.assoc_laguerre(a, 3, 0.6), (signed,)),
    row("legendre_p", lambda z: fsc.legendre_p(3, z), (x,), dtypes=("f8",)),
    row("assoc_legendre_p", lambda z: fsc.assoc_legendre_p(3, 1, z), (x,), dtypes=("f8",)),
    row("assoc_legendre_p-norm", lambda z: fsc.assoc_legendre_p(3, -2, z, norm=True), (x,), dtypes=("f8",)),
    row("sph_legendre_p", lambda t: fsc.sph_legendre_p(3, 1, t), (above,), dtypes=("f8",)),
    row("sph_harm_y", lambda t, u: fsc.sph_harm_y(3, 1, t, u), (above, signed), dtypes=("f8",)),
    row("digamma_rise", lambda a, b: digamma_rise(a, b, n=1), (x, above)),
    row("gamma_density", gamma_density, (above, signed + 1)),
    row("beta_density", beta_density, (above, x + 1, p)),
    row("beta_density-lowered", lambda a, b, z: beta_density(a, b, z, i=1, j=2), (above, x + 1, p)),
    *[
        row(f"{name}{'-slope' * d}", spherical(name, bool(d)), (above,))
        for name in ("spherical_jn", "spherical_yn", "spherical_in", "spherical_kn")
        for d in (0, 1)
    ],
]
_CONSTANT = [
    row("gammasgn", lambda a: a * sc.gammasgn(a), (signed,)),
    row("round", lambda a: a * sc.round(a), (signed,)),
]
#: What is not as usual: in float32 SciPy warns of counts, and some functions are NaN or do not end; second
#: derivatives of smirnov are refused.
_DOUBLE = "bdtr bdtrc bdtri modfresnelp modfresnelm mathieu_cem mathieu_sem".split()
_DOUBLE += [f"{name}{cv}" for name in OUTPUTS if name[:4] in ("pro_", "obl_") for cv in ("", "_cv")]
_DOUBLE += [f"mathieu_mod{letter}em{kind}" for letter in "cs" for kind in (1, 2)]
OWN = {name: {"dtypes": ("f8",)} for name in _DOUBLE} | {"smirnov": {"order": 1}, "smirnovi": {"order": 1}}

SAMPLES = [
    *[row(name, named(name), args) for name, args in SMOOTH.items() if named(name)],
    *[
        row(name, steered(name, case[0]), case[1], **OWN.get(name, {}))
        for name, case in STEERED.items()
        if named(name)
    ],
    *[row(name, f, args) for name, (f, args) in BETWEEN.items()],
    *[
        row(name, steered(name, front), args, **OWN.get(name, {}))
        for name, (front, args) in OUTPUTS.items()
        if named(name)
    ],
    *PYTHON,
    *_CONSTANT,
]
