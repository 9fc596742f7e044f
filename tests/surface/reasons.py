"""What takes no arrays of numbers, or computes nothing with them: why it is not probed."""

from __future__ import annotations

# namespace -> reason -> names. Every reason stands on the page; a name that is probed needs none.
_NUMPY = {
    "an abstract type, of which there are no values": """
        character complexfloating flexible floating generic inexact integer number signedinteger
        unsignedinteger ufunc""",
    "dates and times": """
        busday_count busday_offset busdaycalendar datetime64 datetime_as_string datetime_data is_busday isnat
        timedelta64""",
    "inspects dtypes": """
        can_cast common_type dtype finfo iinfo isdtype issubdtype min_scalar_type mintypecode promote_types
        result_type typename iscomplexobj isrealobj""",
    "inspects memory": "isfortran may_share_memory shares_memory",
    "text": """
        array2string array_repr array_str base_repr binary_repr bytes_ format_float_positional
        format_float_scientific str_""",
    "reads or writes files or bytes": """
        from_dlpack frombuffer fromfile fromregex fromstring genfromtxt load loadtxt memmap save savetxt savez
        savez_compressed""",
    "settings, or facts about the installation": """
        __array_namespace_info__ errstate get_include get_printoptions getbufsize geterr geterrcall info
        printoptions set_printoptions setbufsize seterr seterrcall show_config show_runtime""",
    "takes sizes and makes indices or constants": """
        bartlett blackman broadcast_shapes diag_indices empty eye hamming hanning identity indices
        mask_indices ndindex ones tri tril_indices triu_indices zeros""",
    "its values are arbitrary": "empty_like",
    "makes an array of another kind: matrices, records": "asmatrix bmat matrix recarray record void",
    "memory to be filled: reading and writing it is the user's own": "flatiter ndarray nditer nested_iters",
    "of whole numbers alone": """
        bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or
        bitwise_right_shift bitwise_xor gcd invert lcm left_shift packbits ravel_multi_index right_shift
        unpackbits unravel_index""",
    "makes a ufunc of a Python function, whose results are objects": "frompyfunc",
    "reads an iterator of Python numbers: float(x) of each is refused": "fromiter",
}
_ARRAY = {
    "memory: there is none behind a traced value": """
        base ctypes data flags setflags getfield setfield byteswap""",
    "reads or writes files or bytes": "dump dumps tobytes tofile",
    "moves arrays between devices": "to_device device",
    "deleting entries is an error in NumPy, too": "__delitem__",
    "of whole numbers alone": """
        __iand__ __ilshift__ __index__ __invert__ __ior__ __irshift__ __ixor__ __and__ __rand__ __or__ __ror__
        __xor__ __rxor__ __lshift__ __rlshift__ __rshift__ __rrshift__""",
}

_QUADRATURE = "takes a degree and makes points and weights"
_RANDOM = "random"
_SETTINGS = "settings, or facts about the installation"
_COUNTS = "takes counts and makes numbers"

_BY_SPACE: dict[str, dict[str, str]] = {
    "numpy": _NUMPY,
    "ndarray": _ARRAY,
    "numpy.polynomial": {"text": "set_default_printstyle"},
    "numpy.polynomial.chebyshev": {_QUADRATURE: "chebgauss chebpts1 chebpts2"},
    "numpy.polynomial.legendre": {_QUADRATURE: "leggauss"},
    "numpy.polynomial.laguerre": {_QUADRATURE: "laggauss"},
    "numpy.polynomial.hermite": {_QUADRATURE: "hermgauss"},
    "numpy.polynomial.hermite_e": {_QUADRATURE: "hermegauss"},
    "scipy.special": {
        _SETTINGS: "errstate geterr seterr",
        _COUNTS: """
            ai_zeros bei_zeros beip_zeros ber_zeros bernoulli berp_zeros bi_zeros erf_zeros euler factorialk
            fresnel_zeros fresnelc_zeros fresnels_zeros jn_zeros jnjnp_zeros jnp_zeros jnyn_zeros kei_zeros
            keip_zeros kelvin_zeros ker_zeros kerp_zeros obl_cv_seq pro_cv_seq stirling2 yn_zeros
            ynp_zeros""",
        _QUADRATURE: """
            c_roots cg_roots h_roots he_roots l_roots la_roots p_roots ps_roots roots_chebyc roots_chebys
            roots_chebyt roots_chebyu roots_hermite roots_hermitenorm roots_laguerre roots_legendre
            roots_sh_chebyt roots_sh_chebyu roots_sh_legendre s_roots t_roots ts_roots u_roots us_roots""",
        "takes a degree and makes a polynomial": """
            chebyc chebys chebyt chebyu hermite hermitenorm laguerre legendre sh_chebyt sh_chebyu
            sh_legendre""",
    },
    "scipy.linalg": {
        _RANDOM: "clarkson_woodruff_transform",
        _SETTINGS: "get_blas_funcs get_lapack_funcs find_best_blas_type",
        "takes sizes and makes a constant": "dft hadamard helmert hilbert invhilbert invpascal pascal",
    },
    "scipy.stats": {
        _RANDOM: "multiscale_graphcorr sobol_indices",
        "takes tables of counts": "barnard_exact boschloo_exact",
    },
    "scipy.signal": {
        "takes an order or a length and makes a filter or a constant": """
            besselap buttap max_len_seq savgol_coeffs unit_impulse""",
    },
    "scipy.integrate": {
        "a base class, of which solvers are made": "OdeSolver OdeSolution",
        _QUADRATURE: "lebedev_rule newton_cotes",
        _RANDOM: "qmc_quad",
    },
    "scipy.interpolate": {
        "a base class, of which others are made": "BivariateSpline",
        "SciPy has taken it out": "interp2d",
        "takes what another function of the module, which is refused, makes": "bisplev",
    },
    "scipy.ndimage": {"of whole numbers alone": "value_indices watershed_ift"},
    "scipy.fft": {
        _SETTINGS: """
            get_workers register_backend set_backend set_global_backend set_workers skip_backend""",
        "takes a length": "next_fast_len prev_fast_len",
    },
    "scipy.optimize": {
        "a strategy, to be handed on to an optimiser": "BFGS HessianUpdateStrategy InverseJacobian SR1",
        "holds results": "OptimizeResult RootResults",
        "text": "linprog_verbose_callback show_options",
    },
}

REASONS: dict[str, str] = {
    f"{space}.{name}": reason
    for space, reasons in _BY_SPACE.items()
    for reason, names in reasons.items()
    for name in names.split()
}
