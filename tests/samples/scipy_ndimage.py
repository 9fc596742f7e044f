"""Filters, interpolation and statistics of regions of `funcgrad.scipy.ndimage`."""

import numpy as np

from funcgrad.scipy import ndimage
from samples.table import Sample

_rng = np.random.default_rng(29)
V, M, T = _rng.normal(size=11), _rng.normal(size=(5, 6)), _rng.normal(size=(3, 4, 5))
LONG = _rng.normal(size=70)
K, W = _rng.normal(size=4), _rng.normal(size=(2, 3))
CROSS = np.array([[0, 1, 0], [1, 1, 1]])
LABELS = np.array([[0, 1, 1, 2, 2, 0], [1, 1, 0, 2, 3, 3]] * 2 + [[0, 0, 3, 3, 1, 2]])
#: Places within the image and beyond its edges, at no sample and no middle between two.
PLACES = np.array([[0.3, 2.7, 3.6, -1.2, 5.3], [1.4, 4.2, 0.2, 6.3, -2.3]])
MODES = ("reflect", "constant", "nearest", "mirror", "wrap", "grid-constant", "grid-wrap")
MORPHOLOGY = {
    name: getattr(ndimage, name)
    for name in (
        "grey_erosion", "grey_dilation", "grey_opening", "grey_closing", "morphological_gradient",
        "morphological_laplace", "white_tophat", "black_tophat",
    )
}  # fmt: skip
F8 = {"dtypes": ("f8",)}
ALL = {"dtypes": ("f4", "f8", "c16")}

SAMPLES = [
    *[
        Sample(
            f"correlate1d-{m}", lambda x, w, m=m: ndimage.correlate1d(x, w, 0, mode=m, cval=1.5), (M, K), **F8
        )
        for m in MODES
    ],
    Sample("ndimage.correlate1d", lambda x, w: ndimage.correlate1d(x, w, origin=1), (M, K), **ALL),
    Sample("ndimage.convolve1d", lambda x, w: ndimage.convolve1d(x, w, 0, origin=-1), (M, K), **ALL),
    Sample(
        "ndimage.correlate", lambda x, w: ndimage.correlate(x, w, mode="wrap", origin=(0, 1)), (M, W), **ALL
    ),
    Sample("ndimage.convolve", lambda x, w: ndimage.convolve(x, w, mode="nearest"), (M, W), **ALL),
    Sample("ndimage.convolve-wide", lambda x, w: ndimage.convolve(x, w), (V[:4], LONG[:11]), **F8),
    Sample("uniform_filter", lambda x: ndimage.uniform_filter(x, (3, 2)), (M,)),
    Sample("uniform_filter1d", lambda x: ndimage.uniform_filter1d(x, 4, 0, origin=1), (M,)),
    Sample("gaussian_filter", lambda x: ndimage.gaussian_filter(x, (0.8, 1.1)), (M,), **ALL),
    Sample("gaussian_filter-order", lambda x: ndimage.gaussian_filter(x, 0.8, (1, 2), mode="mirror"), (M,)),
    Sample("gaussian_filter-axes", lambda x: ndimage.gaussian_filter(x, 0.8, axes=(1,), truncate=2.0), (T,)),
    Sample("gaussian_filter-sigma", lambda x, s: ndimage.gaussian_filter(x, s, radius=3), (M, 0.9), **F8),
    Sample(
        "gaussian_filter1d", lambda x, s: ndimage.gaussian_filter1d(x, s, order=2, radius=4), (V, 1.2), **F8
    ),
    Sample("laplace", ndimage.laplace, (M,)),
    Sample("gaussian_laplace", lambda x: ndimage.gaussian_laplace(x, 0.7), (M,)),
    Sample("gaussian_gradient_magnitude", lambda x: ndimage.gaussian_gradient_magnitude(x, 0.7), (M,)),
    Sample("generic_laplace", lambda x: ndimage.generic_laplace(x, ndimage.sobel), (M,), **F8),
    Sample("sobel", ndimage.sobel, (M,)),
    Sample("prewitt", lambda x: ndimage.prewitt(x, 0, mode="constant", cval=0.5), (M,)),
    Sample("maximum_filter", lambda x: ndimage.maximum_filter(x, (2, 3)) ** 2, (M,)),
    Sample("maximum_filter1d", lambda x: ndimage.maximum_filter1d(x, 3, mode="wrap") ** 2, (V,)),
    Sample(
        "minimum_filter", lambda x: ndimage.minimum_filter(x, footprint=CROSS, mode="constant") ** 2, (M,)
    ),
    Sample("minimum_filter1d", lambda x: ndimage.minimum_filter1d(x, 3, axis=0) ** 2, (M,)),
    Sample("median_filter", lambda x: ndimage.median_filter(x, 3) ** 2, (M,)),
    Sample("rank_filter", lambda x: ndimage.rank_filter(x, -2, footprint=CROSS, origin=(0, 1)) ** 2, (M,)),
    Sample(
        "percentile_filter", lambda x: ndimage.percentile_filter(x, 30, size=3, mode="nearest") ** 2, (V,)
    ),
    *[
        Sample(name, lambda x, f=f: f(x, (2, 3), mode="nearest") ** 2, (M,), **F8)
        for name, f in MORPHOLOGY.items()
    ],
    *[
        Sample(
            f"{name}-structure",
            lambda x, s, f=f: f(x, structure=s, footprint=CROSS, origin=(0, -1)),
            (M, W),
            **F8,
        )
        for name, f in MORPHOLOGY.items()
    ],
    Sample("fourier_gaussian", lambda x: ndimage.fourier_gaussian(x, 0.8), (M,), dtypes=("f8", "c16")),
    Sample("fourier_shift", lambda x: ndimage.fourier_shift(x, (0.5, 1.0)), (M,), dtypes=("f8", "c16")),
    Sample("fourier_uniform", lambda x: ndimage.fourier_uniform(x, 3.0), (M,), dtypes=("c16",)),
    Sample("fourier_ellipsoid", lambda x: ndimage.fourier_ellipsoid(x, 3.0, n=9), (M,), dtypes=("c16",)),
    *[
        Sample(f"spline_filter1d-{m}", lambda x, m=m: ndimage.spline_filter1d(x, mode=m), (M,), **F8)
        for m in ("mirror", "reflect", "grid-wrap")
    ],
    Sample(
        "spline_filter1d-long", lambda x: ndimage.spline_filter1d(x, 3, mode="mirror")[::9], (LONG,), **F8
    ),
    Sample("spline_filter1d-f4", lambda x: ndimage.spline_filter1d(x, 5, 0), (M,), dtypes=("f4",)),
    Sample(
        "spline_filter1d-c16", lambda x: ndimage.spline_filter1d(x * (1 + 0.5j), 4, 0, complex), (M,), **F8
    ),
    Sample("spline_filter", lambda x: ndimage.spline_filter(x, 2), (M,), **F8),
    *[
        Sample(
            f"map_coordinates-{order}-{m}",
            lambda x, at, order=order, m=m: ndimage.map_coordinates(x, at, order=order, mode=m, cval=0.7),
            (M, PLACES),
            **F8,
        )
        for order in (1, 3)
        for m in MODES
    ],
    Sample(
        "map_coordinates-2",
        lambda x, at: ndimage.map_coordinates(x, at, order=2, mode="reflect"),
        (M, PLACES),
        **F8,
    ),
    Sample(
        "map_coordinates-5",
        lambda x, at: ndimage.map_coordinates(x, at, order=5, mode="mirror"),
        (M, PLACES),
        **F8,
    ),
    Sample("map_coordinates-0", lambda x: ndimage.map_coordinates(x, PLACES, order=0), (M,)),
    Sample(
        "map_coordinates-f4",
        lambda x: ndimage.map_coordinates(x, PLACES, order=1, mode="mirror"),
        (M,),
        **ALL,
    ),
    Sample(
        "map_coordinates-third",
        lambda x, at: ndimage.map_coordinates(x, at),
        (M, PLACES[:, :2]),
        **F8,
        order=3,
    ),
    Sample(
        "map_coordinates-coefficients",
        lambda x, at: ndimage.map_coordinates(x, at, prefilter=False, mode="grid-wrap"),
        (M, PLACES),
        **F8,
    ),
    Sample(
        "affine_transform",
        lambda x, a, b: ndimage.affine_transform(x, a, b, mode="reflect"),
        (M, np.array([[0.93, 0.21], [-0.17, 1.13]]), np.array([0.26, -0.44])),
        **F8,
    ),
    Sample(
        "affine_transform-diagonal",
        lambda x, a: ndimage.affine_transform(x, a, 0.37, (3, 4), order=1),
        (M, np.array([0.83, 1.13])),
        **F8,
    ),
    Sample(
        "affine_transform-homogeneous",
        lambda x, a: ndimage.affine_transform(x, a, order=1, mode="nearest"),
        (M, np.array([[0.93, 0.21, 0.26], [-0.17, 1.13, -0.44]])),
        **F8,
    ),
    Sample("shift", lambda x, s: ndimage.shift(x, s, cval=0.4), (M, np.array([0.37, -1.21])), **F8),
    Sample("shift-one", lambda x, s: ndimage.shift(x, s, order=1, mode="wrap"), (T, 0.63), **F8),
    Sample("zoom", lambda x: ndimage.zoom(x, (1.5, 0.7)), (M,), dtypes=("f4", "f8", "c16")),
    Sample(
        "zoom-grid", lambda x: ndimage.zoom(x, 2, order=1, mode="grid-constant", grid_mode=True), (M,), **F8
    ),
    Sample("rotate", lambda x: ndimage.rotate(x, 33.0, mode="mirror"), (M,)),
    Sample("rotate-angle", lambda x, a: ndimage.rotate(x, a, reshape=False, order=3), (M, 21.3), **F8),
    Sample("rotate-axes", lambda x: ndimage.rotate(x, -110.0, axes=(2, 0), order=1), (T,), **F8),
    Sample("rotate-right-angle", lambda x: ndimage.rotate(x, 90), (M,), **F8),
    Sample("sum_labels", lambda x: ndimage.sum_labels(x**2, LABELS, [1, 3, 9]), (M,), **F8),
    Sample("sum_labels-none", lambda x: (ndimage.sum_labels(x**2), ndimage.sum(x**2, LABELS)), (M,), **F8),
    Sample("ndimage.mean", lambda x: ndimage.mean(x**2, LABELS, [[1, 2], [3, 1]]), (M,), **F8),
    Sample("ndimage.variance", lambda x: ndimage.variance(x, LABELS, [1, 2]), (M,), **F8),
    Sample("standard_deviation", lambda x: ndimage.standard_deviation(x, LABELS, 2), (M,), **F8),
    Sample("ndimage.maximum", lambda x: ndimage.maximum(x**2, LABELS, [2, 1]), (M,)),
    Sample("ndimage.minimum", lambda x: ndimage.minimum(x**2, LABELS), (M,)),
    Sample("extrema", lambda x: ndimage.extrema(x**2, LABELS)[:2], (M,), stage=False, batch=False, **F8),
    Sample("ndimage.median", lambda x: ndimage.median(x**2, LABELS, [3, 0]), (M,), **F8),
    Sample("center_of_mass", lambda x: ndimage.center_of_mass(x**2), (M,), **F8),
    Sample("center_of_mass-labels", lambda x: ndimage.center_of_mass(x**2, LABELS, [1, 3])[1], (M,), **F8),
]
