"""Arguments to probe SciPy's callables with, where the generic ones do not suit."""

from __future__ import annotations

import numpy as np
from scipy import ndimage, stats
from scipy.special import obl_cv, pro_cv

from surface.arguments import INTEGERS, SORTED, Call, M, N, V, W, call, through
from surface.probe import quietly

A = M + np.triu(N, 1)  # without symmetry
SPD = M @ M + np.eye(4)
LOWER = np.linalg.cholesky(SPD)
STABLE = -np.eye(4) - 0.3 * A
BAND = np.array([[0.0, 0.12, 0.17, 0.26], [1.4, 1.3, 1.5, 1.2]])  # upper form of a symmetric matrix
BANDED = np.array([[0.0, 0.12, 0.17, 0.26], [1.4, 1.3, 1.5, 1.2], [0.3, 0.2, 0.1, 0.0]])
LU = np.array([[1.7, 0.2, 0.4, 0.1], [0.3, 1.5, 0.2, 0.3], [0.2, 0.4, 1.6, 0.2], [0.1, 0.3, 0.2, 1.4]])
PIVOTS = np.array([0, 2, 2, 3], np.int32)
Q, R = np.linalg.qr(A)
X = np.linspace(0.0, 2.0, 9)
Y = np.sin(X) + 1.5
LONG = np.sin(np.arange(40.0)) + 0.01 * np.arange(40)
FIR = np.array([0.3, 0.5, 0.2])
B, DEN = np.array([0.3, 0.2]), np.array([1.0, -0.4, 0.1])
SOS = np.array([[0.3, 0.2, 0.1, 1.0, -0.4, 0.1]])
SECTION = SOS[:, [0, 1, 2, 4, 5]]
STATE = (
    np.array([[-1.0, 0.2], [0.1, -0.7]]),
    np.array([[1.0], [0.5]]),
    np.array([[0.3, 0.8]]),
    np.array([[0.1]]),
)
IMAGE = (np.arange(30.0).reshape(5, 6) * 0.37) % 1.0 + 0.1
POINTS = np.array([[0.1, 0.2], [0.9, 0.1], [0.5, 0.8], [0.2, 0.9], [0.7, 0.45], [0.95, 0.9]])
HEIGHTS = np.array([0.3, 0.8, 0.5, 0.2, 0.9, 0.4])
TARGETS = np.array([[0.5, 0.4], [0.6, 0.5]])


def _of(module: str, table: dict[str, list[Call]]) -> dict[str, list[Call]]:
    return {f"scipy.{module}.{name}": calls for names, calls in table.items() for name in names.split()}


_SPECIAL = {
    "bdtr bdtrc": [call(2.0, 5, 0.4)],
    "bdtri": [call(2, 5, 0.4)],
    "ellip_harm ellip_harm_2": [call(0.2, 0.7, 2, 1, 1.5)],
    "expn kn yn jn": [call(2, V)],
    "j_roots js_roots roots_jacobi roots_sh_jacobi jacobi sh_jacobi": [call(3, 0.7, 0.4)],
    "factorial sinc": [call(V)],
    "multigammaln": [call(3.3, 2)],
    "nbdtr nbdtrc": [call(2, 5, 0.4)],
    "ncfdtri": [call(2.1, 3.4, 0.7, 0.4)],
    "ncfdtrinc": [call(2.1, 3.4, 0.4, 0.7)],
    "ncfdtridfd ncfdtridfn": [call(2.1, 0.4, 0.7, 0.9)],
    "pdtr pdtrc": [call(2, 0.4)],
    "smirnov": [call(5, 0.3)],
    "sph_harm_y": [call(2, 1, 0.4, 0.7)],
    "sph_harm_y_all": [call(2, 2, 0.4, 0.7)],
    "spherical_in spherical_jn spherical_kn spherical_yn": [call(2, V)],
    "lmbda": [call(2, 0.4)],
    "lqmn lpmn": [call(1, 2, 0.4)],
    "mathieu_even_coef mathieu_odd_coef": [call(2, 0.4)],
    "pbdn_seq": [call(2, 0.4)],
    "pbdv_seq pbvv_seq": [call(2.3, 0.4)],
    "riccati_jn riccati_yn lpn lqn": [call(2, 0.4)],
    "obl_ang1_cv": [through(lambda f, x: f(1, 2, 0.4, obl_cv(1, 2, 0.4), x), 0.7)],
    "obl_rad1_cv obl_rad2_cv": [through(lambda f, x: f(1, 2, 2.5, obl_cv(1, 2, 2.5), x), 3.0)],
    "pro_ang1_cv": [through(lambda f, x: f(1, 2, 0.4, pro_cv(1, 2, 0.4), x), 0.7)],
    "pro_rad1_cv pro_rad2_cv": [through(lambda f, x: f(1, 2, 1.2, pro_cv(1, 2, 1.2), x), 3.0)],
    "obl_ang1 pro_ang1": [call(1, 2, 0.4, 0.7)],
    "obl_rad1 obl_rad2": [call(1, 2, 2.5, 3.0)],
    "pro_rad1 pro_rad2": [call(1, 2, 1.2, 3.0)],
    "obl_cv pro_cv": [call(1, 2, 0.4)],
}
_LINALG = {
    "bandwidth ishermitian issymmetric": [call(M)],
    "cdf2rdf": [through(lambda f, a: f(*np.linalg.eig(a)), A)],
    "cho_factor cholesky": [call(SPD), call(SPD, lower=True)],
    "cho_solve": [
        through(lambda f, c, b: f((c, True), b), LOWER, V),
    ],
    "cho_solve_banded": [through(lambda f, c, b: f((c, False), b), BAND, V)],
    "cholesky_banded": [call(BAND)],
    "convolution_matrix": [call(V, 3)],
    "cossin": [through(lambda f, q: f(q, 2, 2), Q)],
    "det expm logm inv sqrtm sinm cosm tanm sinhm coshm tanhm signm null_space orth pinv": [call(A)],
    "diagsvd": [call(V, 4, 4)],
    "eig eigvals hessenberg ldl lu lu_factor polar qr rq schur svd svdvals": [call(A)],
    "eig_banded eigvals_banded": [call(BAND)],
    "eigh eigvalsh": [call(SPD), call(SPD, M + np.eye(4))],
    "eigh_tridiagonal eigvalsh_tridiagonal": [call(V, W[:3])],
    "expm_cond": [call(A)],
    "expm_frechet": [call(A, M)],
    "fractional_matrix_power": [call(SPD, 0.4)],
    "funm": [through(lambda f, a: f(a, np.exp), SPD)],
    "hankel toeplitz": [call(V), call(V, W)],
    "khatri_rao kron": [call(M, N)],
    "leslie": [call(V, W[:3])],
    "lstsq": [call(A, V), call(A[:, :2], V)],
    "lu_solve": [through(lambda f, lu, b: f((lu, PIVOTS), b), LU, V)],
    "matmul_toeplitz solve_toeplitz": [call(V + 0.1 * INTEGERS, W)],
    "matrix_balance": [call(A)],
    "norm": [call(V), call(A)],
    "ordqz qz": [call(A, M)],
    "orthogonal_procrustes": [call(A, M)],
    "qr_delete": [call(Q, R, 1)],
    "qr_insert": [call(Q, R, V, 1)],
    "qr_multiply": [call(A, V)],
    "qr_update": [call(Q, R, V, W)],
    "solve": [call(A + np.eye(4), V), call(SPD, V, assume_a="pos")],
    "solve_banded": [through(lambda f, ab, b: f((1, 1), ab, b), BANDED, V)],
    "solve_circulant": [call(V, W)],
    "solve_continuous_are": [call(A, M, SPD, np.eye(4))],
    "solve_continuous_lyapunov solve_lyapunov": [call(STABLE, SPD)],
    "solve_discrete_are": [call(0.3 * A, M, SPD, np.eye(4))],
    "solve_discrete_lyapunov": [call(0.3 * A, SPD)],
    "solve_sylvester": [call(SPD, A, M)],
    "solve_triangular": [call(LOWER, V, lower=True)],
    "solveh_banded": [call(BAND, V)],
    "subspace_angles": [call(A[:, :2], M[:, 2:])],
    "rsf2csf": [call(*np.linalg.qr(A)[::-1])],
}
_STATS = {
    "Binomial": [through(lambda f, p: f(n=5, p=p).mean(), 0.4)],
    "Logistic": [through(lambda f, x: f().pdf(x), 0.4)],
    "Normal": [through(lambda f, m, x: f(mu=m, sigma=1.2).pdf(x), 0.4, 0.7)],
    "Uniform": [through(lambda f, a, x: f(a=a, b=1.2).pdf(x), 0.1, 0.7)],
    "Covariance": [through(lambda f, p: f.from_diagonal(p).whiten(W), V)],
    "Mixture order_statistic truncate abs exp log": [through(lambda f, x: _new(f, x), 0.4)],
    "binomtest": [through(lambda f, p: f(3, 7, p).pvalue, 0.4)],
    "bootstrap": [through(lambda f, x: f((x,), np.mean, n_resamples=9, rng=0).standard_error, LONG)],
    "boxcox_llf yeojohnson_llf": [call(0.4, Y)],
    "boxcox_normplot ppcc_plot yeojohnson_normplot": [call(Y, 0.1, 0.9)],
    "dunnett": [through(lambda f, x: f(x, control=W, rng=0).statistic, V)],
    "fit goodness_of_fit": [through(lambda f, x: _fitted(f, x), Y)],
    "gaussian_kde": [through(lambda f, data, x: f(data)(x), LONG, SORTED)],
    "ks_1samp": [through(lambda f, x: f(x, np.tanh), V)],
    "make_distribution": [through(lambda f, x: _new_normal(f).pdf(x), 0.4)],
    "monte_carlo_test": [
        through(lambda f, x: f(x, np.random.default_rng(0).normal, np.mean, n_resamples=9).statistic, V)
    ],
    "permutation_test": [
        through(
            lambda f, x: f((x, W), lambda a, b: np.mean(a) - np.mean(b), n_resamples=9, rng=0).statistic, V
        )
    ],
    "pmean": [call(V, 0.7)],
    "poisson_means_test": [call(3, 7.5, 5, 8.5)],
    "power": [
        through(lambda f, x: f(lambda a, axis: np.mean(a + x, axis), np.random.default_rng(0).normal, 4), 0.4)
    ],
    "rv_histogram": [through(lambda f, h, x: f((h, np.arange(5.0))).pdf(x), V, 1.4)],
    "ttest_ind ttest_rel f_oneway": [call(V, W)],
    "differential_entropy": [call(LONG)],
    "trim_mean": [call(LONG, 0.1)],
    "trimboth trim1": [call(LONG, 0.1)],
    "ttest_ind_from_stats": [call(0.4, 1.2, 5, 0.7, 1.1, 6)],
}
_SIGNAL = {
    "CZT": [through(lambda f, x: f(4)(x), V)],
    "argrelextrema": [call(LONG, np.greater)],
    "band_stop_obj": [call(0.2, 0, np.array([0.1, 0.6]), np.array([0.25, 0.4]), 1.0, 20.0, "butter")],
    "bilinear_zpk": [call(0.1 * V, -V, 0.4, 2.0)],
    "buttord cheb1ord cheb2ord ellipord": [call(0.2, 0.4, 1.0, 20.0)],
    "cheb1ap": [call(3, 0.4)],
    "cheb2ap": [call(3, 20.4)],
    "cheby1": [call(3, 0.7, 0.4)],
    "cheby2": [call(3, 20.7, 0.4)],
    "chirp": [call(V, 0.4, 1.0, 2.0)],
    "decimate": [call(LONG, 2)],
    "ellip": [call(3, 0.7, 20.4, 0.4)],
    "ellipap": [call(3, 0.7, 20.4)],
    "filtfilt": [call(B, DEN, LONG)],
    "find_peaks": [call(LONG)],
    "find_peaks_cwt": [call(LONG, np.array([1, 2]))],
    "findfreqs": [call(B, DEN, 5)],
    "firls": [call(5, np.array([0.0, 0.3, 0.5, 1.0]), np.array([1.0, 0.9, 0.1, 0.0]))],
    "firwin": [call(5, 0.4)],
    "firwin2": [call(9, np.array([0.0, 0.3, 0.5, 1.0]), np.array([1.0, 0.9, 0.1, 0.0]))],
    "firwin_2d": [through(lambda f, c: f((3, 3), ("hamming", "hamming"), fc=[0.2, c]), 0.4)],
    "freqs freqz": [call(B, DEN, V)],
    "freqs_zpk freqz_zpk": [call(0.1 * V, -V, 0.4, W)],
    "freqz_sos sosfreqz": [through(lambda f, s: f(np.insert(s, 3, 1.0, axis=1), V), SECTION)],
    "gammatone": [call(100.4, "iir", fs=1000.0)],
    "get_window": [through(lambda f, b: f(("kaiser", b), 5), 2.4)],
    "hilbert2": [call(IMAGE)],
    "deconvolve": [call(np.convolve(FIR, V), FIR)],
    "iirdesign": [call(0.2, 0.4, 1.0, 20.0)],
    "kaiserord": [call(30.4, 0.2)],
    "lfilter": [call(B, DEN, LONG)],
    "lfiltic": [call(B, DEN, V, W)],
    "lsim": [through(lambda f, a, u: f((a, *STATE[1:]), u, X), STATE[0], Y)],
    "impulse step": [through(lambda f, a: f((a, *STATE[1:])), STATE[0])],
    "dimpulse dstep": [through(lambda f, a: f((a, *STATE[1:], 0.1), n=5), STATE[0])],
    "dlsim": [through(lambda f, a, u: f((a, *STATE[1:], 0.1), u), STATE[0], Y)],
    "order_filter": [call(V, np.ones(3), 1)],
    "peak_prominences peak_widths": [call(LONG, np.array([2]))],
    "place_poles": [call(STATE[0], STATE[1], np.array([-1.2, -2.3]))],
    "qspline2d cspline2d": [call(np.outer(LONG[:12], LONG[:12]))],
    "remez": [call(5, np.array([0.0, 0.15, 0.3, 0.5]), np.array([1.0, 0.2]))],
    "resample": [call(LONG, 20)],
    "resample_poly": [call(LONG, 2, 3)],
    "savgol_filter": [call(LONG, 5, 2)],
    "sepfir2d": [call(np.outer(LONG[:12], LONG[:12]), FIR, FIR)],
    "sosfilt sosfiltfilt": [call(SOS, LONG)],
    "sosfilt_zi sos2tf sos2zpk": [call(SOS)],
    "spline_filter": [call(np.outer(LONG, LONG))],
    "ss2tf ss2zpk": [call(*STATE)],
    "symiirorder1": [call(LONG, 0.4, 0.3)],
    "symiirorder2": [call(LONG, 0.4, 0.3)],
    "tf2sos tf2ss tf2zpk": [call(B, DEN)],
    "zpk2sos zpk2ss zpk2tf": [call(0.1 * V[:2], -V[:2], 0.4)],
    "zoom_fft": [call(LONG, 0.4)],
    "check_COLA check_NOLA": [through(lambda f, w: f(w, 4, 2), np.ones(4))],
}


def _integral(**options):
    """An integral from 0, as a function of a parameter in the integrand and of where it ends."""
    return [
        through(lambda f, x: f(lambda t: np.sin(x * t), 0.0, 1.0, **options), 0.4),
        through(lambda f, b: f(np.cos, 0.0, b, **options), 0.7),
    ]


def _solver(f, y0, rate):
    return f(lambda t, y: -rate * y, 0.0, y0, 1.0)


_DECAY = [
    through(lambda f, y0: _solver(f, y0, 0.4).y, V),
    through(lambda f, rate: _solver(f, V, rate).step(), 0.4),
]
_TIGHT = {"rtol": 1e-11, "atol": 1e-12}
_INTEGRATE = {
    "quad fixed_quad quad_vec romb quadrature": _integral(),
    "tanhsinh": _integral(),
    "cubature": [through(lambda f, x: f(lambda t: np.sin(x * t[:, 0]), [0.0], [1.0]).estimate, 0.4)],
    "dblquad": [through(lambda f, x: f(lambda s, t: s * t * x, 0.0, 1.0, 0.0, 1.0), 0.4)],
    "tplquad": [through(lambda f, x: f(lambda r, s, t: s * t * x, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0), 0.4)],
    "nquad": [through(lambda f, x: f(lambda s, t: s * t * x, [[0.0, 1.0], [0.0, 1.0]]), 0.4)],
    "nsum": [through(lambda f, x: f(lambda k: x / k**2, 1.0, 5.0).sum, 0.4)],
    "odeint": [
        through(lambda f, y0: f(lambda y, t: -y, y0, X), V),
        through(lambda f, rate: f(lambda y, t: -rate * y, V, X), 0.4),
    ],
    "solve_ivp": [
        through(lambda f, y0: f(lambda t, y: -y, (0.0, 1.0), y0, **_TIGHT).y[:, -1], V),
        through(lambda f, rate: f(lambda t, y: -rate * y, (0.0, 1.0), V, **_TIGHT).y[:, -1], 0.4),
        through(
            lambda f, rate: f(lambda t, y, r: -r * y, (0.0, 1.0), V, args=(rate,), **_TIGHT).y[:, -1], 0.4
        ),
    ],
    "solve_bvp": [
        through(
            lambda f, x: (
                f(
                    lambda t, y: np.vstack([y[1], -x * y[0]]),
                    lambda a, b: np.array([a[0], b[0] - 1]),
                    X,
                    np.ones((2, 9)),
                ).y
            ),
            0.4,
        )
    ],
    "BDF DOP853 LSODA RK23 RK45 Radau": _DECAY,
    "romb": [call(Y), call(Y, 0.2)],
    "simpson trapezoid cumulative_simpson cumulative_trapezoid": [call(Y), call(Y, x=X), call(Y, dx=0.3)],
    "ode complex_ode": [
        through(lambda f, y0: f(lambda t, y: -y).set_initial_value(y0, 0.0).integrate(1.0), V)
    ],
}
_CURVE = [through(lambda f, x, y: f(x, y)(0.4), X, Y), through(lambda f, t: f(X, Y)(t), 0.4)]
_SURFACE = [
    through(lambda f, z: f(X[:5], X[:6], z)(0.4, 0.7), IMAGE),
    through(lambda f, t: f(X[:5], X[:6], IMAGE)(t, 0.7), 0.4),
]
_SCATTERED = [
    through(lambda f, z: f(POINTS, z)(TARGETS), HEIGHTS),
    through(lambda f, t: f(POINTS, HEIGHTS)(t), TARGETS),
]
_PIECES = np.array([[0.3, 0.7, 0.2], [1.1, 0.4, 0.8]])  # coefficients of two powers on three intervals
_COEFFICIENTS = np.array([0.3, 0.7, 0.2, 0.9, 0.5])
_KNOTS = np.array([0.0, 0.0, 0.0, 0.0, 0.9, 2.0, 2.0, 2.0, 2.0])
_TCK = [through(lambda f, c: f((_KNOTS, c, 3)), np.r_[_COEFFICIENTS, np.zeros(4)])]
_INTERPOLATE = {
    "Akima1DInterpolator CubicSpline PchipInterpolator make_interp_spline interp1d BarycentricInterpolator "
    "KroghInterpolator InterpolatedUnivariateSpline UnivariateSpline make_smoothing_spline "
    "FloaterHormannInterpolator AAA": _CURVE,
    "CubicHermiteSpline": [through(lambda f, y: f(X, y, np.cos(X))(0.4), Y)],
    "LSQUnivariateSpline make_lsq_spline": [through(lambda f, y: _least_squares_spline(f, y)(0.4), Y)],
    "BPoly PPoly": [
        through(lambda f, c: f(c, np.arange(4.0))(1.4), _PIECES),
        through(lambda f, t: f(_PIECES, np.arange(4.0))(t), 1.4),
    ],
    "BSpline": [
        through(lambda f, c: f(_KNOTS, c, 3)(0.4), _COEFFICIENTS),
        through(lambda f, t: f(_KNOTS, _COEFFICIENTS, 3)(t), 0.4),
    ],
    "NdBSpline": [through(lambda f, c: f((_KNOTS,), c, 3)(np.array([[0.4]])), _COEFFICIENTS)],
    "NdPPoly": [through(lambda f, c: f(c, (np.arange(4.0),))(np.array([[1.4]])), _PIECES)],
    "RectBivariateSpline": _SURFACE,
    "RectSphereBivariateSpline": [
        through(lambda f, z: f(0.3 + 0.4 * X[:5], 0.3 + 0.4 * X[:6], z)(0.6, 0.7), IMAGE)
    ],
    "RegularGridInterpolator": [
        through(lambda f, z: f((X[:5], X[:6]), z)(np.array([[0.4, 0.7]])), IMAGE),
        through(lambda f, t: f((X[:5], X[:6]), IMAGE)(t), np.array([[0.4, 0.7]])),
    ],
    "interpn": [
        through(lambda f, z, t: f((X[:5], X[:6]), z, t), IMAGE, np.array([[0.4, 0.7]])),
    ],
    "Rbf": [through(lambda f, z: f(*POINTS.T, z)(0.4, 0.5), HEIGHTS)],
    "RBFInterpolator LinearNDInterpolator CloughTocher2DInterpolator NearestNDInterpolator": _SCATTERED,
    "griddata": [call(POINTS, HEIGHTS, TARGETS)],
    "SmoothBivariateSpline": [
        through(lambda f, z: f(np.tile(X, 4), np.repeat(V, 9), z)(0.4, 0.5), np.tile(Y, 4) + np.repeat(W, 9))
    ],
    "LSQBivariateSpline": [
        through(lambda f, z: f(np.tile(X, 4), np.repeat(V, 9), z, [1.0], [0.5])(0.4, 0.5), np.tile(Y, 4))
    ],
    "SmoothSphereBivariateSpline": [
        through(lambda f, z: f(0.2 + np.repeat(X, 9), 0.2 + np.tile(X, 9), z, s=9.0)(0.6, 0.7), np.tile(Y, 9))
    ],
    "LSQSphereBivariateSpline": [
        through(
            lambda f, z: f(0.2 + np.repeat(X, 9), 0.2 + np.tile(X, 9), z, [1.0, 2.0], [1.0, 2.0])(0.6, 0.7),
            np.tile(Y, 9),
        )
    ],
    "approximate_taylor_polynomial": [
        through(lambda f, x: f(lambda t: np.sin(x * t), 0.3, 2, 0.5).coeffs, 0.4)
    ],
    "bisplrep": [through(lambda f, z: f(np.tile(X, 4), np.repeat(V, 9), z), np.tile(Y, 4) + np.repeat(W, 9))],
    "insert": [through(lambda f, c: f(0.4, (_KNOTS, c, 3))[1][:5], np.r_[_COEFFICIENTS, np.zeros(4)])],
    "spalde": [through(lambda f, c: f(0.4, (_KNOTS, c, 3)), np.r_[_COEFFICIENTS, np.zeros(4)])],
    "splantider splder": _TCK,
    "sproot": [through(lambda f, c: f((_KNOTS, c, 3)), _COEFFICIENTS - 0.5)],
    "splev": [
        through(lambda f, c: f(0.4, (_KNOTS, c, 3)), _COEFFICIENTS),
        through(lambda f, t: f(t, (_KNOTS, _COEFFICIENTS, 3)), 0.4),
    ],
    "splint": [
        through(lambda f, c: f(0.1, 0.4, (_KNOTS, c, 3)), _COEFFICIENTS),
        through(lambda f, t: f(0.1, t, (_KNOTS, _COEFFICIENTS, 3)), 0.4),
    ],
    "splprep make_splprep": [through(lambda f, x, y: f([x, y]), np.cos(X), np.sin(X))],
    "splrep make_splrep": [call(X, Y)],
    "generate_knots": [through(lambda f, y: list(f(X, y, s=0.1)), Y)],
}
_NDIMAGE = {
    "affine_transform": [call(IMAGE, np.array([[0.9, 0.1], [-0.1, 0.8]]), np.array([0.2, 0.3]))],
    "convolve correlate": [call(IMAGE, M[:3, :3])],
    "convolve1d correlate1d": [call(IMAGE, FIR)],
    "fourier_ellipsoid fourier_gaussian fourier_uniform": [call(IMAGE, 1.2)],
    "fourier_shift": [call(IMAGE, 0.4)],
    "gaussian_filter gaussian_filter1d gaussian_laplace gaussian_gradient_magnitude": [call(IMAGE, 0.7)],
    "generic_filter": [through(lambda f, x, s: f(x, lambda w: np.sum(w) * s, 3), IMAGE, 0.4)],
    "generic_filter1d": [through(lambda f, x: f(x, _running, 3), IMAGE)],
    "generic_gradient_magnitude generic_laplace": [through(lambda f, x: _with_derivative(f, x), IMAGE)],
    "geometric_transform": [through(lambda f, x, s: f(x, lambda i: (i[0] * s, i[1])), IMAGE, 0.7)],
    "grey_closing grey_dilation grey_erosion grey_opening white_tophat black_tophat morphological_gradient "
    "morphological_laplace": [call(IMAGE, (3, 3))],
    "histogram": [call(IMAGE, 0.0, 1.2, 5)],
    "labeled_comprehension": [
        through(lambda f, x: f(x, np.arange(30).reshape(5, 6) % 3, [0, 1], np.sum, float, 0.0), IMAGE)
    ],
    "map_coordinates": [
        call(IMAGE, np.array([[0.4, 1.7], [1.2, 2.6]]), order=1),
        call(IMAGE, np.array([[0.4, 1.7], [1.2, 2.6]])),
    ],
    "maximum_filter minimum_filter median_filter uniform_filter": [call(IMAGE, 3)],
    "maximum_filter1d minimum_filter1d uniform_filter1d": [call(IMAGE, 3)],
    "percentile_filter": [call(IMAGE, 40.0, 3)],
    "rank_filter": [call(IMAGE, 2, 3)],
    "rotate": [call(IMAGE, 20.4), call(IMAGE, 20.4, reshape=False)],
    "shift": [call(IMAGE, 0.4), call(IMAGE, np.array([0.4, 1.2]))],
    "spline_filter spline_filter1d": [call(IMAGE)],
    "vectorized_filter": [through(lambda f, x: f(x, np.sum, size=3), IMAGE)],
    "zoom": [call(IMAGE, 1.4)],
    "center_of_mass extrema maximum mean median minimum standard_deviation sum sum_labels variance "
    "maximum_position minimum_position": [call(IMAGE), call(IMAGE, np.arange(30).reshape(5, 6) % 3, [0, 1])],
}

_MINIMISE = [
    through(lambda f, x: _solution(f(lambda t: np.sum((t - x) ** 2), np.zeros(2))), 0.4),
    through(lambda f, x: _solution(f(lambda t: np.sum((t - 0.4) ** 2), x)), np.array([0.3, 0.2])),
]
_IN_BOUNDS = [through(lambda f, x: f(lambda t: np.sum((t - x) ** 2), [(-1.0, 1.0)] * 2), 0.4)]
_ALONG = [through(lambda f, x: _solution(f(lambda t: (t - x) ** 2)), 0.4)]
_BRACKETED = [
    through(lambda f, x: f(lambda t: t**3 - x, 0.0, 1.0), 0.4),
    through(lambda f, b: f(lambda t: t**3 - 0.4, 0.0, b), 1.1),
]
_ROOT = [
    through(lambda f, x: f(lambda t: t**3 - x, 0.7), 0.4),
    through(lambda f, start: f(lambda t: t**3 - 0.4, start), 0.7),
]
_ROOTS = [
    through(lambda f, x: _solution(f(lambda t: t**3 - x, np.array([0.7, 0.8]))), 0.4),
    through(lambda f, start: _solution(f(lambda t: t**3 - 0.4, start)), np.array([0.7, 0.8])),
]
_OPTIMIZE = {
    "anderson broyden1 broyden2 diagbroyden newton_krylov fsolve root": _ROOTS,
    "excitingmixing linearmixing": [
        through(lambda f, x: f(lambda t: t - x, np.array([0.7, 0.8]), alpha=-0.5), 0.4),
        through(lambda f, start: f(lambda t: t - 0.4, start, alpha=-0.5), np.array([0.7, 0.8])),
    ],
    "approx_fprime": [
        through(lambda f, x: f(x, lambda t: np.sum(t**2), 1e-6), V),
        through(lambda f, x: f(V, lambda t: np.sum(t**2) * x, 1e-6), 0.4),
    ],
    "basinhopping": [
        through(lambda f, x: f(lambda t: np.sum((t - x) ** 2), np.zeros(2), niter=2, rng=0).x, 0.4)
    ],
    "bisect brenth brentq ridder toms748": _BRACKETED,
    "bracket brent golden minimize_scalar": _ALONG,
    "brute": [through(lambda f, x: f(lambda t: np.sum((t - x) ** 2), ((-1.0, 1.0),), Ns=5), 0.4)],
    "check_grad": [through(lambda f, x: f(lambda t: np.sum((t - x) ** 2), lambda t: 2 * (t - x), V), 0.4)],
    "curve_fit": [
        through(lambda f, y: f(lambda t, a, b: a * t + b, X, y, p0=(1.0, 0.1))[0], Y),
        through(lambda f, s: f(lambda t, a, b: a * s * t + b, X, Y, p0=(1.0, 0.1))[0], 1.1),
    ],
    "differential_evolution dual_annealing": [
        through(lambda f, x: f(lambda t: np.sum((t - x) ** 2), [(-1.0, 1.0)] * 2, maxiter=2, rng=0).x, 0.4)
    ],
    "direct shgo": _IN_BOUNDS,
    "fixed_point": [
        through(lambda f, x: f(lambda t: np.cos(x * t), 0.7), 0.4),
        through(lambda f, s: f(np.cos, s), 0.7),
    ],
    "fmin fmin_bfgs fmin_cg fmin_l_bfgs_b fmin_powell fmin_slsqp fmin_tnc minimize": _MINIMISE,
    "fmin_l_bfgs_b fmin_tnc": [
        through(lambda f, x: f(lambda t: np.sum((t - x) ** 2), np.zeros(2), approx_grad=True), 0.4)
    ],
    "fmin_cobyla": [
        through(lambda f, x: f(lambda t: np.sum((t - x) ** 2), np.zeros(2), [lambda t: 1.0]), 0.4)
    ],
    "fmin_ncg": [
        through(lambda f, x: f(lambda t: np.sum((t - x) ** 2), np.zeros(2), lambda t: 2 * (t - x)), 0.4)
    ],
    "fminbound": [through(lambda f, x: f(lambda t: (t - x) ** 2, 0.0, 1.0), 0.4)],
    "least_squares leastsq": [
        through(lambda f, x: _solution(f(lambda t: t - x, np.zeros(2))), 0.4),
        through(lambda f, start: _solution(f(lambda t: t - 0.4, start)), np.array([0.3, 0.2])),
    ],
    "line_search": [
        through(lambda f, x: f(lambda t: np.sum(t**2) * x, lambda t: 2 * t * x, V, -V), 0.4),
        through(lambda f, x: f(lambda t: np.sum(t**2), lambda t: 2 * t, x, -V), V),
    ],
    "linear_sum_assignment": [call(A)],
    "linprog": [call(V, -M, -W)],
    "lsq_linear nnls": [call(A, V)],
    "milp": [through(lambda f, c: f(np.stack([c, 1.0 - c]), bounds=(0, 1)), 0.4)],
    "newton": _ROOT,
    "root_scalar": [through(lambda f, x: _solution(f(lambda t: t**3 - x, bracket=(0.0, 1.0))), 0.4)],
    "quadratic_assignment": [call(A, M)],
    "rosen rosen_der rosen_hess": [call(V)],
    "rosen_hess_prod": [call(V, W)],
    "isotonic_regression": [call(V)],
}


# ---- distributions -------------------------------------------------------------------------

_SHAPES = [(), (2.4,), (2.4, 1.7), (1.3, 2.4, 0.7)]
_SHAPES_OF = {
    "argus": (1.3,), "binom": (5, 0.4), "betabinom": (5, 2.4, 1.7), "betanbinom": (5, 6.4, 1.7),
    "bernoulli": (0.4,), "boltzmann": (0.7, 6), "crystalball": (1.3, 2.4), "genhyperbolic": (0.7, 1.9, -0.4),
    "geninvgauss": (1.3, 0.7), "hypergeom": (12, 7, 5), "jf_skew_t": (2.4, 1.7), "kappa4": (0.1, 0.2),
    "ksone": (9,), "kstwo": (9,), "levy_stable": (1.7, 0.3), "nbinom": (5, 0.4),
    "nchypergeom_fisher": (12, 7, 5, 0.7), "nchypergeom_wallenius": (12, 7, 5, 0.7), "ncf": (5.3, 9.7, 0.4),
    "nct": (7.3, 0.4), "nhypergeom": (12, 7, 4), "norminvgauss": (1.7, 0.4), "pareto": (4.7,),
    "randint": (1, 7), "reciprocal": (0.4, 2.3), "loguniform": (0.4, 2.3), "rel_breitwigner": (3.4,),
    "skellam": (2.4, 1.7), "studentized_range": (3.0, 9.0), "t": (5.3,), "trapezoid": (0.3, 0.7),
    "triang": (0.4,), "truncexpon": (3.4,), "truncnorm": (-0.9, 1.7), "truncpareto": (2.4, 4.7),
    "tukeylambda": (0.4,), "vonmises": (1.7,), "vonmises_line": (1.7,), "yulesimon": (9.4,), "zipf": (7.4,),
    "zipfian": (2.4, 9), "beta": (2.4, 1.7), "betaprime": (2.4, 7.7), "burr": (5.4, 1.7),
    "burr12": (5.4, 1.7), "fisk": (5.4,), "f": (5.3, 9.7), "genpareto": (0.1,), "genextreme": (0.1,),
    "geom": (0.4,), "invgamma": (5.3,), "invweibull": (5.3,), "lomax": (5.3,), "mielke": (5.4, 7.3),
    "planck": (0.7,), "dlaplace": (0.7,), "logser": (0.4,), "poisson": (2.4,),
    "poisson_binom": ([0.3, 0.6, 0.4],), "recipinvgauss": (0.7,), "powerlognorm": (2.4, 0.7), "arcsine": (),
    "bradford": (2.4,), "weibull_max": (2.4,), "weibull_min": (2.4,),
    "dpareto_lognorm": (0.3, 0.7, 5.3, 1.7), "landau": (), "gausshyper": (2.4, 1.7, 0.7, 0.4),
    "erlang": (2,),
}  # fmt: skip
_SIMPLEX, _COUNTS, _WEIGHTS = np.array([0.2, 0.3, 0.5]), np.array([1, 2, 2]), np.array([1.4, 2.3, 0.9])
_MULTIVARIATE = {  # points, and parameters
    "multivariate_normal": ((V,), (W, SPD)),
    "multivariate_t": ((V,), (W, SPD, 5.3)),
    "matrix_normal": ((A,), (M, SPD, SPD)),
    "matrix_t": ((A,), (M, SPD, SPD, 5.3)),
    "dirichlet_multinomial": ((_COUNTS,), (_WEIGHTS, 5)),
    "multinomial": ((_COUNTS,), (5, _SIMPLEX)),
    "multivariate_hypergeom": ((_COUNTS,), (np.array([3, 4, 5]), 5)),
    "random_table": ((np.array([[1, 2], [3, 1]]),), ([3, 4], [4, 3])),
    "wishart": ((SPD,), (6.3, SPD)),
    "invwishart": ((SPD,), (6.3, SPD)),
    "normal_inverse_gamma": ((0.4, 0.9), (0.3, 1.4, 2.3, 1.1)),
    "vonmises_fisher": ((np.array([0.6, 0.8]),), (np.array([1.0, 0.0]), 2.0)),
}


def of_distribution(name: str) -> list[Call]:
    """Arguments for a method of a distribution, ``norm.pdf``."""
    owner, _, method = name.partition(".")
    own = getattr(stats, owner)
    if owner in _MULTIVARIATE:
        points, parameters = _MULTIVARIATE[owner]
        return [call(*points, *parameters)] if method in _OF_POINTS else [call(*parameters)]
    if owner == "dirichlet":
        if method not in _OF_POINTS:
            return [call(_WEIGHTS)]
        return [through(lambda f, x, a: f(np.stack([x, 0.7 - x, 0.3 + 0 * x]), a), 0.2, _WEIGHTS)]
    shapes = _SHAPES_OF.get(owner)
    if shapes is None:
        shapes = next(s for s in _SHAPES if len(s) == own.numargs)
    whole = hasattr(own, "pmf")
    place = {} if whole else {"loc": 0.3, "scale": 1.2}
    if method in ("ppf", "isf"):
        return [call(np.array([0.3, 0.6]), *shapes, **place)]
    if method in _OF_POINTS:
        with quietly():
            points = np.asarray(own.ppf([0.3, 0.62], *shapes, **place))
        return [call(points.astype(int) if whole else points, *shapes, **place)]
    if method in ("moment", "interval"):
        return [call(2 if method == "moment" else 0.4, *shapes, **place)]
    if method == "expect":
        return [
            through(lambda f, *shapes, **place: f(lambda x: x * x, args=shapes, **place), *shapes, **place)
        ]
    if method == "fit":
        return [call(own.ppf(np.linspace(0.1, 0.9, 9), *shapes))]
    if method == "nnlf":
        data = np.array([1, 2]) if whole else np.array([1.0, 2.0])
        return [through(lambda f, *theta: f(theta, data), *shapes, *(() if whole else (0.1, 1.2)))]
    return [call(*shapes, **place)]


_OF_POINTS = ("pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf")

# ---- functions of SciPy's in arguments -----------------------------------------------------


def _solution(result):
    """What was looked for; not how often, and with which message."""
    return getattr(result, "x", getattr(result, "root", result))


def _new(f, x):
    """A distribution of SciPy's newer kind, made from another one."""
    name = f.__name__
    normal = stats.Normal(mu=0.2, sigma=1.2)
    if name == "Mixture":
        return f([normal, stats.Normal()]).pdf(x)
    if name == "order_statistic":
        return f(normal, r=2, n=3).pdf(x)
    if name == "truncate":
        return f(normal, lb=-1.0, ub=2.0).pdf(x)
    return f(stats.Uniform(a=0.5, b=1.2) if name == "log" else normal).pdf(x)


def _new_normal(f):
    return f(stats.norm)()


def _fitted(f, x):
    if f.__name__ == "fit":
        return f(stats.norm, x).params
    return f(stats.norm, x, n_mc_samples=5, rng=0).statistic


def _least_squares_spline(f, y):
    return f(X, y, [0.9]) if f.__name__ == "LSQUnivariateSpline" else f(X, y, _KNOTS)


def _running(line, out):
    out[...] = line[:-2] + line[1:-1] + line[2:]


def _with_derivative(f, x):
    second = f.__name__ == "generic_laplace"
    return f(x, lambda a, axis, *rest: ndimage.gaussian_filter1d(a, 0.7, axis, 2 if second else 1))


SPECIAL = {
    **_of("special", _SPECIAL),
    **_of("linalg", _LINALG),
    **_of("stats", _STATS),
    **_of("signal", _SIGNAL),
    **_of("integrate", _INTEGRATE),
    **_of("interpolate", _INTERPOLATE),
    **_of("ndimage", _NDIMAGE),
    **_of("optimize", _OPTIMIZE),
    **_of("fft", {"dct dst idct idst dctn dstn idctn idstn": [call(V), call(M, 3), call([V, W])]}),
    "scipy.fft.fht": [call(V, 0.3, 0.7)],
    "scipy.fft.ifht": [call(V, 0.3, 0.7)],
    "scipy.fft.fhtoffset": [call(0.3, 0.7)],
}
