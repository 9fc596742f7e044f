"""Sorting, partitions, orders, unique values, places in sorted arrays."""

import numpy as np

from samples.table import Sample

_rng = np.random.default_rng(4)
V = _rng.normal(size=6)
M = _rng.normal(size=(3, 5))
W = np.arange(1.0, 6.0)

SAMPLES = [
    Sample("sort", lambda x: np.sort(x) ** 2, (V,), dtypes=("f2", "f4", "f8", "g")),
    Sample("sort-axis=0", lambda x: np.sort(x, axis=0) ** 2, (M,)),
    Sample("sort-flat", lambda x: np.sort(x, axis=None, kind="stable") ** 2, (M,)),
    Sample("sort-weighted", lambda x, w: np.sum(w * np.sort(x, stable=True) ** 2), (M, W)),
    Sample("sort-empty", lambda x: np.sort(x, axis=1), (np.zeros((2, 0)),)),
    Sample("sort-size-1", lambda x: np.sort(x) ** 2, (M[:, :1],)),
    Sample("sort_complex", lambda x: np.sort_complex(x) ** 2, (V,), dtypes=("f4", "f8", "c16")),
    Sample("partition", lambda x: np.partition(x, 2)[2] ** 2, (V,)),
    Sample("partition-kth", lambda x: np.partition(x, (1, 3), axis=0)[1] ** 2, (M.T,)),
    Sample("argsort", lambda x: np.take_along_axis(x, np.argsort(x, axis=0), 0) ** 2, (M,)),
    Sample("argpartition", lambda x: x[np.argpartition(x, 2)][2] ** 2, (V,)),
    Sample("lexsort", lambda x: x[np.lexsort((x, x > 0))] ** 2, (V,)),
    Sample("searchsorted", lambda x, v: x * np.searchsorted(np.sort(x), v), (V, np.array(0.3))),
    Sample("digitize", lambda x: x * np.digitize(x, np.array([-0.5, 0.0, 0.5])), (M,)),
    Sample("digitize-falling", lambda x: x * np.digitize(x, np.array([0.5, 0.0, -0.5]), right=True), (M,)),
    Sample("unique", lambda x: np.unique(np.concatenate([x, x])) ** 2, (V,), batch=False, stage=False),
    Sample(
        "unique-counts", lambda x: np.unique(x, return_counts=True)[0] ** 2, (V,), batch=False, stage=False
    ),
    Sample("unique-axis", lambda x: np.unique(x, axis=0) ** 2, (M,), batch=False, stage=False),
]
