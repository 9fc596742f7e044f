"""Signals: values with SciPy's arguments, adjoints of linear filters, what is refused."""

import warnings

import numpy as np
import pytest
from scipy import signal as own

from funcgrad import errors, grad, jvp, vjp
from funcgrad.scipy import signal
from funcgrad.scipy._convolution import convolve_axes

_rng = np.random.default_rng(3)
V, U = _rng.normal(size=37), _rng.normal(size=30)
T = _rng.normal(size=(3, 40, 2))
Z = V + 1j * _rng.normal(size=37)
B, A = own.butter(3, 0.3)
SOS = own.cheby1(5, 1, 0.3, output="sos")


def check(name, *args, rtol=1e-10, **given):
    """A traced call has SciPy's results: arrays, in value, shape and dtype."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = getattr(own, name)(*args, **given)
        place = next((i for i, x in enumerate(args) if isinstance(x, np.ndarray)), 0)
        outs = jvp(
            lambda x: signal_results(getattr(signal, name)(*args[:place], x, *args[place + 1 :], **given)),
            (args[place],),
            (np.ones_like(args[place]),),
        )[0]
    expected = signal_results(expected)
    for a, b in zip(outs, expected, strict=True):
        assert np.shape(a) == np.shape(b) and np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol, 1e-10 * np.max(np.abs(b), initial=1.0))


def signal_results(out):
    return out if isinstance(out, tuple) else (out,)


MODES = pytest.mark.parametrize("mode", ["full", "same", "valid"])


@MODES
@pytest.mark.parametrize(
    "a, v",
    [
        ((7,), (3,)),
        ((3,), (7,)),
        ((6, 8), (3, 4)),
        ((3, 2), (5, 7)),
        ((5, 6, 4), (2, 3, 4)),
        ((200,), (150,)),
    ],
)
@pytest.mark.parametrize("kind", [float, complex])
def test_convolutions(a, v, mode, kind):
    a, v = (_rng.normal(size=s).astype(kind) for s in (a, v))
    if kind is complex:
        a, v = a + 1j * a[::-1], v * (1 + 0.5j)
    for name in ("convolve", "correlate", "fftconvolve", "oaconvolve"):
        check(name, a, v, mode)
    if a.ndim == 2:
        for boundary in ("fill", "wrap", "symm"):
            check("convolve2d", a, v, mode, boundary, fillvalue=2)
            check("correlate2d", a, v, mode, boundary, fillvalue=2)


@MODES
def test_convolution_over_some_axes(mode):
    a, v = T[:, :9].swapaxes(1, 2), _rng.normal(size=(1, 2, 4))
    check("fftconvolve", a, v, mode, axes=-1)
    check("oaconvolve", a, v, mode, axes=[2])


@pytest.mark.parametrize("valid", [False, True])
@pytest.mark.parametrize("shapes", [((9, 8), (3, 4)), ((2, 9, 30), (7, 20)), ((60, 50), (40, 45))])
def test_convolution_has_exact_adjoints(shapes, valid):
    """<g, A x> = <A' g, x>, by sums and by Fourier transforms."""
    a, v = (_rng.normal(size=s) for s in shapes)
    out, pull = vjp(lambda a, v: convolve_axes(a, v, ndim=2, valid=valid), a, v)
    g = _rng.normal(size=out.shape)
    for x, share in zip((a, v), pull(g)):
        assert np.sum(g * out) == pytest.approx(np.sum(x * share), rel=1e-10)


@pytest.mark.parametrize(
    "b, a", [(B, A), (B, [1.0]), ([2.0], A), (B[:2], 2 * A), (B, 2 * A[:2])], ids=range(5)
)
def test_filters(b, a):
    order = max(len(b), len(a)) - 1
    for x in (T, T * 1j, T[:, :1], T[:, :2]):
        check("lfilter", b, a, x, axis=1)
        check("lfilter", b, a, x, axis=1, zi=_rng.normal(size=(3, order, 2)))
    for padtype in ("odd", "even", "constant", None):
        check("filtfilt", b, a, T, axis=1, padtype=padtype)
    check("filtfilt", b, a, T, axis=1, padlen=5)


def test_filters_have_exact_adjoints():
    out, pull = vjp(lambda x: signal.lfilter(B, A, x), V)
    g = _rng.normal(size=37)
    assert np.sum(g * out) == pytest.approx(np.sum(pull(g)[0] * V), rel=1e-12)


def test_a_filter_with_a_pole_outside_the_circle_is_refused_by_nothing():
    """Growth is a result; and its derivative too."""
    slope = grad(lambda a: signal.lfilter([1.0], [1.0, a], np.ones(5))[-1])(-2.0)
    step = 1e-6
    ends = [own.lfilter([1.0], [1.0, -2.0 + s], np.ones(5))[-1] for s in (step, -step)]
    assert slope == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-6)


def test_second_order_sections():
    state = own.sosfilt_zi(SOS)
    check("sosfilt", SOS, T, axis=1)
    check("sosfilt", SOS, T[0].T, zi=np.stack([state] * 2, 1))
    check("sosfiltfilt", SOS, T, axis=1)
    check("sosfiltfilt", SOS, V, padtype="even", padlen=4)
    check("sosfilt_zi", SOS)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_trends_and_analytic_signals(dtype):
    x, v = T.astype(dtype), V.astype(dtype)
    rtol = 1e-3 if dtype == "f4" else 1e-10
    for given in ({}, {"type": "constant"}, {"bp": [5, 17], "axis": 1}, {"axis": 1, "bp": 9}):
        expected = own.detrend(x, **given)
        found = jvp(lambda x: signal.detrend(x, **given), (x,), (x,))[0]
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol, rtol)
    if dtype == "f8":
        for given in ({}, {"N": 30}, {"N": 45}):
            check("hilbert", v, **given)
        check("hilbert", x, axis=1)
        check("hilbert2", x)
        check("hilbert2", x[0], N=(12, 5))


@pytest.mark.parametrize("mode", ["interp", "mirror", "constant", "nearest", "wrap"])
@pytest.mark.parametrize("width, order", [(5, 3), (6, 2), (7, 4), (1, 0), (2, 1)])
def test_savgol_filter(mode, width, order):
    for deriv in range(3):
        check("savgol_filter", T, width, order, deriv, 0.5, axis=1, mode=mode, cval=1.0, rtol=1e-7)


def test_selections():
    check("order_filter", T[0], np.array([[1, 0, 1], [0, 1, 1], [1, 1, 1]]), 2)
    check("medfilt", V, 5)
    check("medfilt", T[:, :, 0], [3, 5])
    check("medfilt2d", T[0], 3)
    for size, noise in ((None, None), ((3, 5), 0.4), (5, None)):
        check("wiener", T[0], size, noise)


@pytest.mark.parametrize("num", [20, 37, 50, 21, 74, 36])
@pytest.mark.parametrize("domain", ["time", "freq"])
def test_resampling(num, domain):
    windows = (None, "hamming", lambda f: np.exp(-f * f), _rng.uniform(size=37), ("kaiser", 3.0))
    for window in windows:
        for x in (V, Z):
            check("resample", x, num, window=window, domain=domain)
    check("resample", T, num, np.arange(40) * 0.1, axis=1, domain=domain)


@pytest.mark.parametrize("up, down", [(3, 2), (2, 5), (1, 4), (4, 1), (6, 4)])
def test_polyphase_resampling(up, down):
    for padtype in (
        "constant",
        "mean",
        "median",
        "maximum",
        "minimum",
        "wrap",
        "edge",
        "symmetric",
        "reflect",
    ):
        check("resample_poly", T, up, down, axis=1, padtype=padtype)
    check("resample_poly", T, up, down, axis=1, cval=2.0)
    for mode in ("constant", "wrap", "edge", "symmetric", "reflect"):
        for taps in (1, 4, 60):
            check("upfirdn", _rng.normal(size=taps), T, up, down, axis=1, mode=mode)


def test_decimation():
    for kind in ("iir", "fir", own.dlti(*own.butter(3, 0.3))):
        for zero_phase in (True, False):
            check("decimate", V, 3, ftype=kind, zero_phase=zero_phase)


SPECTRA = [
    {},
    {"nperseg": 8},
    {"nperseg": 9, "noverlap": 2, "nfft": 16, "window": "hamming"},
    {"nperseg": 8, "detrend": "linear", "scaling": "spectrum"},
    {"nperseg": 8, "detrend": False, "return_onesided": False, "fs": 3.0},
    {"window": np.linspace(0.2, 1.0, 7)},
]


@pytest.mark.parametrize("given", SPECTRA, ids=range(len(SPECTRA)))
def test_spectra(given):
    for average in ("mean", "median"):
        check("welch", V, average=average, **given)
        check("welch", T, axis=1, average=average, **given)
        check("welch", Z, average=average, **given)
        check("csd", V, U, average=average, **given)
    for mode in ("psd", "complex", "magnitude"):
        check("spectrogram", V, mode=mode, **given)
        check("spectrogram", T, axis=1, mode=mode, **given)


@pytest.mark.parametrize("boundary", ["zeros", "even", "odd", "constant", None])
@pytest.mark.parametrize("padded", [True, False])
def test_short_time_transforms(boundary, padded):
    for given in (
        {"nperseg": 8},
        {"nperseg": 9, "noverlap": 6, "nfft": 12},
        {"nperseg": 7, "scaling": "psd"},
    ):
        check("stft", V, boundary=boundary, padded=padded, **given)
        check("stft", T, axis=1, boundary=boundary, padded=padded, **given)


def test_inverse_transforms():
    z, stacked = own.stft(V, nperseg=8)[2], own.stft(T, nperseg=8, axis=1)[2]
    check("istft", z)
    check("istft", z, scaling="psd", fs=2.0)
    check("istft", z, boundary=False, noverlap=6)
    check("istft", stacked, freq_axis=1)
    check("istft", np.moveaxis(stacked, -1, 0), freq_axis=2, time_axis=0)
    check("istft", own.stft(Z, nperseg=9, return_onesided=False)[2], input_onesided=False)
    check("istft", own.stft(V, nperseg=9)[2], nperseg=9)
    check("istft", own.stft(V, nperseg=8, nfft=16)[2], nperseg=8, nfft=16)


def test_periodograms_and_responses():
    for nfft in (None, 50, 20):
        check("periodogram", V, nfft=nfft)
        check("periodogram", T, axis=1, nfft=nfft, window="hann", scaling="spectrum")
    for given in (
        {},
        {"worN": 10},
        {"worN": 11, "whole": True},
        {"worN": [0.1, 0.5]},
        {"fs": 9.0, "worN": 5},
    ):
        check("freqz", B, A, **given)
        check("freqz", B, **given)
    check("sosfreqz", SOS, worN=9)
    check("czt", T, 20, axis=1)
    check("czt", V, 15, np.exp(-0.1j), 0.9 * np.exp(0.3j))
    check("zoom_fft", V, [0.2, 0.6], 13, fs=3.0)
    check("zoom_fft", T, 0.7, axis=1, endpoint=True)


def test_lombscargle():
    times, freqs = np.sort(_rng.uniform(0, 10, 30)), np.linspace(0.5, 5, 7)
    for normalize in (False, True):
        check("lombscargle", times, U, freqs, normalize=normalize)


@pytest.mark.parametrize("width", [0, 0.3, 1])
def test_waveforms(width):
    t = np.linspace(-3, 15, 50)
    check("sawtooth", t, width)
    check("square", t, width)
    for method in ("linear", "quadratic", "log", "hyp"):
        for f0, f1 in ((1.0, 3.0), (2.0, 2.0), (3.0, 1.0)):
            check("chirp", t / 10, f0, 2.0, f1, method, 30)
            check("chirp", t / 10, f0, 2.0, f1, method, vertex_zero=False)
    check("gausspulse", t / 100, 50, retquad=True, retenv=True)


@pytest.mark.parametrize("pass_zero", [True, False, "lowpass", "highpass", "bandpass", "bandstop"])
def test_windowed_designs(pass_zero):
    cutoffs = {"lowpass": [[0.4]], "highpass": [[0.4]]}.get(pass_zero, [[0.2, 0.5], [0.1, 0.4, 0.7]])
    for cutoff in cutoffs:
        for given in ({}, {"scale": False, "fs": 2.5}, {"width": 0.2}, {"window": ("kaiser", 3.0)}):
            expected = own.firwin(15, cutoff, pass_zero=pass_zero, **given)
            x = np.array(cutoff)
            found = jvp(lambda c: signal.firwin(15, c, pass_zero=pass_zero, **given), (x,), (x,))[0]
            np.testing.assert_allclose(found, expected, 1e-12, 1e-14)


def test_responses_of_filters():
    check("lfiltic", B, A, V[:2], U[:3])
    check("lfiltic", B, A[:2], V[:4])
    check("freqs", B, A, [0.3, 1.0])
    found = jvp(lambda b: signal.group_delay((b, A), 9)[1], (B,), (B,))[0]
    np.testing.assert_allclose(found, own.group_delay((B, A), 9)[1])
    check("sweep_poly", V, np.poly1d([0.3, -0.2, 1.0]), 20)
    zeros, poles, gain = own.tf2zpk(B, A)
    check("freqz_zpk", zeros, poles, gain, 8, whole=True)


def test_peaks_are_constant_and_their_heights_are_not():
    x = np.array([0.0, 2.0, 1.0, 0.5, 3.0, 0.2])

    def heights(x):
        peaks, found = signal.find_peaks(x, height=1.0, prominence=0.1, threshold=0.1)
        assert list(peaks) == [1, 4]
        return np.sum(found["peak_heights"]) + np.sum(found["prominences"]) + found["left_thresholds"][0]

    peaks, found = own.find_peaks(x, height=1.0, prominence=0.1, threshold=0.1)
    expected = found["peak_heights"].sum() + found["prominences"].sum() + found["left_thresholds"][0]
    assert jvp(heights, (x,), (x,))[0] == pytest.approx(expected)
    assert jvp(heights, (x,), (x,))[1] == pytest.approx(expected)  # it is linear in the heights


@pytest.mark.parametrize(
    "f",
    [
        lambda x: signal.filtfilt(x * np.ones(2), [1.0, 0.2], np.arange(40.0), method="gust"),
        lambda x: signal.find_peaks(x * np.arange(5.0), width=1),
        lambda x: signal.czt(np.ones(4), a=x),
        lambda x: signal.upfirdn([1.0, 2.0], x * np.arange(5.0), mode="antireflect"),
        lambda x: signal.freqz(x * np.ones((2, 2))),
        lambda x: signal.freqs([1.0, x], [1.0]),
        lambda x: signal.welch(np.ones(8), window=x * np.ones(4)),
        lambda x: signal.savgol_filter(np.ones(8), 3, 1, deriv=1, delta=x),
    ],
)
def test_arguments_without_derivative_are_refused(f):
    with pytest.raises(errors.UnsupportedArgumentError) as caught:
        grad(f)(0.4)
    assert "test_scipy_signal.py" in str(caught.value)


@pytest.mark.parametrize(
    "f", [lambda x: signal.envelope(x * np.ones(9)), lambda x: signal.cont2discrete((x, 1, 1, 0), 0.1)]
)
def test_functions_without_derivative_name_the_way(f):
    with pytest.raises(errors.UnsupportedFunctionError, match="Write"):
        grad(f)(0.4)


def test_errors_are_scipys():
    for f in (
        lambda x: signal.convolve(x, np.ones((2, 2))),
        lambda x: signal.convolve(x, np.ones(2), mode="none"),
        lambda x: signal.lfilter([1.0], [0.0, 1.0], x),
        lambda x: signal.filtfilt(B, A, x[:9]),
        lambda x: signal.sosfilt(2 * SOS, x),
        lambda x: signal.savgol_filter(x, 99, 2),
        lambda x: signal.stft(x, nperseg=8, noverlap=8),
    ):
        with pytest.raises(ValueError):
            grad(lambda x: np.sum(f(x)))(V)


def test_empty_signals():
    for f in (
        lambda m, x: m.lfilter(B, A, x),
        lambda m, x: m.fftconvolve(x, np.ones(3)),
    ):
        found, pull = vjp(lambda x: f(signal, x), np.zeros(0))
        assert found.shape == f(own, np.zeros(0)).shape and pull(found)[0].shape == (0,)


def test_long_convolutions_are_those_of_short_ones():
    a, v = _rng.normal(size=4000), _rng.normal(size=900)
    for mode in ("full", "same", "valid"):
        check("convolve", a, v, mode)
    _, pull = vjp(lambda a, v: signal.convolve(a, v), a, v)
    g = _rng.normal(size=4899)
    shares = pull(g)
    np.testing.assert_allclose(shares[0], np.correlate(g, v, "valid"), 1e-9, 1e-9)
    np.testing.assert_allclose(shares[1], np.correlate(g, a, "valid"), 1e-9, 1e-9)
