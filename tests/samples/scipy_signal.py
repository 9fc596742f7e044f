"""Convolutions, filters, smoothing, resampling and spectra of `funcgrad.scipy.signal`."""

import numpy as np

from funcgrad.scipy import signal
from samples.table import Sample

_rng = np.random.default_rng(23)
V, U = _rng.normal(size=13), _rng.normal(size=13)
K, L = _rng.normal(size=4), _rng.normal(size=5)
M, N = _rng.normal(size=(5, 6)), _rng.normal(size=(2, 3))
T = _rng.normal(size=(2, 11, 3))
B, A = np.array([0.4, 0.3, -0.2]), np.array([1.2, -0.5, 0.3])
STATE = np.array([0.3, -0.6])
SOS = np.array([[0.3, 0.2, 0.1, 1.0, -0.4, 0.2], [1.0, -0.5, 0.3, 1.0, 0.3, -0.1]])
TIMES = np.sort(_rng.uniform(0.0, 6.0, size=13))
F8 = {"dtypes": ("f8",)}
ALL = {"dtypes": ("f4", "f8", "c16")}


def sections(free):
    """Second-order sections, whose fourth column is 1."""
    return np.concatenate([free[:, :3], np.ones((2, 1)), free[:, 4:]], axis=1)


def final(result):
    """The output and the final state as a tuple."""
    return tuple(result)


def second(function, **given):
    return lambda *xs: function(*xs, **given)[1]


def third(function, **given):
    return lambda *xs: function(*xs, **given)[2]


SAMPLES = [
    Sample("signal.convolve", signal.convolve, (V, K), **ALL),
    Sample("signal.convolve-same", lambda a, v: signal.convolve(a, v, "same"), (M, N), **ALL),
    Sample("signal.convolve-valid-swapped", lambda a, v: signal.convolve(a, v, "valid"), (N, M), **ALL),
    Sample("signal.convolve-3d", signal.convolve, (T[:, :3], T[:, 3:5, :2])),
    Sample(
        "signal.convolve-transforms",
        lambda a, v: signal.convolve(a * np.ones(300), v * np.ones(200)),
        (1.3, 0.4),
    ),
    Sample("signal.correlate", signal.correlate, (V, K), **ALL),
    Sample("signal.correlate-valid", lambda a, v: signal.correlate(a, v, "valid"), (M, N), **ALL),
    Sample("signal.correlate-same-swapped", lambda a, v: signal.correlate(a, v, "same"), (N, M), **ALL),
    Sample("signal.fftconvolve", signal.fftconvolve, (V, K), **ALL),
    Sample(
        "signal.fftconvolve-axes", lambda a, v: signal.fftconvolve(a, v, "same", axes=1), (T, T[:1, :4]), **F8
    ),
    Sample("signal.oaconvolve", lambda a, v: signal.oaconvolve(a, v, axes=(0, 1)), (T, T[:1, :4]), **F8),
    *[
        Sample(
            f"signal.{f.__name__}-{mode}-{boundary}",
            lambda a, v, f=f, m=mode, b=boundary: f(a, v, m, b, fillvalue=1.5),
            (M, N),
            dtypes=("f8", "c16"),
        )
        for f in (signal.convolve2d, signal.correlate2d)
        for mode, boundary in [("full", "fill"), ("same", "wrap"), ("full", "symm"), ("valid", "fill")]
    ],
    Sample("lfilter", signal.lfilter, (B, A, V), **ALL),
    Sample("lfilter-order-3", signal.lfilter, (B[:2], A, V[:4]), **F8, order=3),
    Sample("lfilter-axis", lambda b, a, x: signal.lfilter(b, a, x, axis=1), (B, A, T), **F8),
    Sample("lfilter-fir", lambda b, x: signal.lfilter(b, [2.0], x), (K, V), **ALL),
    Sample("lfilter-long-a", signal.lfilter, (B[:1], A, V), **F8),
    Sample("lfilter-zi", lambda b, a, x, z: final(signal.lfilter(b, a, x, zi=z)), (B, A, V, STATE), **ALL),
    Sample(
        "lfilter-zi-short",
        lambda b, a, x, z: final(signal.lfilter(b, a, x, zi=z)),
        (B, A, V[:1], STATE),
        **F8,
    ),
    Sample("lfilter-zi-fir", lambda b, x, z: final(signal.lfilter(b, 1.0, x, zi=z)), (B, V, STATE), **F8),
    Sample("lfilter_zi", signal.lfilter_zi, (B, A), **F8),
    Sample("sosfilt", lambda s, x: signal.sosfilt(sections(s), x), (SOS, V), **F8),
    Sample(
        "sosfilt-zi",
        lambda s, x, z: final(signal.sosfilt(sections(s), x, axis=0, zi=z)),
        (SOS, T[0], _rng.normal(size=(2, 2, 3))),
        **F8,
    ),
    Sample("sosfilt_zi", lambda s: signal.sosfilt_zi(sections(s)), (SOS,), **F8),
    Sample("filtfilt", lambda b, a, x: signal.filtfilt(b, a, x), (B, A, V), **F8),
    Sample("filtfilt-even", lambda x: signal.filtfilt(B, A, x, axis=1, padtype="even", padlen=4), (T,), **F8),
    Sample("filtfilt-constant", lambda x: signal.filtfilt(B, A, x, padtype="constant"), (V,), **F8),
    Sample("filtfilt-None", lambda b, x: signal.filtfilt(b, A, x, padtype=None), (B, V), **F8),
    Sample("sosfiltfilt", lambda s, x: signal.sosfiltfilt(sections(s), x, padlen=5), (SOS, V), **F8),
    Sample("sosfiltfilt-padlen", lambda x: signal.sosfiltfilt(SOS[:1], x, axis=1), (T,), **F8),
    Sample("deconvolve", lambda s, d: tuple(signal.deconvolve(s, d)), (V, A), **F8),
    Sample("detrend", signal.detrend, (V,)),
    Sample("detrend-constant", lambda x: signal.detrend(x, 1, "constant"), (T,), **ALL),
    Sample("detrend-breaks", lambda x: signal.detrend(x, 1, bp=[4, 7]), (T,), dtypes=("f8", "c16")),
    Sample("hilbert", signal.hilbert, (V,)),
    Sample("hilbert-N", lambda x: signal.hilbert(x, 8, axis=1), (T,)),
    Sample("hilbert2", lambda x: signal.hilbert2(x, (4, 6)), (M,)),
    Sample("savgol_filter", lambda x: signal.savgol_filter(x, 5, 2), (V,), **F8),
    Sample("savgol_filter-f4", lambda x: signal.savgol_filter(x, 5, 2, mode="nearest"), (V,)),
    *[
        Sample(
            f"savgol_filter-{mode}",
            lambda x, mode=mode: signal.savgol_filter(
                x, 5, 3, deriv=1, delta=0.5, axis=1, mode=mode, cval=1.0
            ),
            (T,),
            **F8,
        )
        for mode in ("interp", "mirror", "constant", "wrap")
    ],
    Sample("medfilt", lambda x: signal.medfilt(x, 3) ** 2, (V,)),
    Sample("medfilt2d", lambda x: signal.medfilt2d(x, [3, 5]) ** 2, (M,)),
    Sample("order_filter", lambda x: signal.order_filter(x, np.array([[1, 0, 1]]), 1) ** 2, (M,)),
    Sample("wiener", lambda x: signal.wiener(x, 3), (V,), **F8),
    Sample("wiener-noise", lambda x, n: signal.wiener(x, (3, 3), n), (M, 0.3), **F8),
    Sample("resample-down", lambda x: signal.resample(x, 8), (V,)),
    Sample("resample-up", lambda x: signal.resample(x, 20, axis=1, window="hann"), (T,)),
    Sample("resample-even", lambda x: signal.resample(x, 6), (V[:12],), **ALL),
    Sample("resample-even-up", lambda x: signal.resample(x, 16), (V[:12],), **ALL),
    Sample("resample-freq", lambda x: signal.resample(x, 8, domain="freq"), (V,), dtypes=("c16",)),
    Sample("resample_poly", lambda x: signal.resample_poly(x, 3, 2), (V,)),
    Sample("resample_poly-window", lambda x, h: signal.resample_poly(x, 2, 3, window=h), (V, L), **F8),
    Sample("resample_poly-mean", lambda x: signal.resample_poly(x, 2, 3, axis=1, padtype="mean"), (T,)),
    Sample("resample_poly-reflect", lambda x: signal.resample_poly(x, 1, 2, padtype="reflect"), (V,)),
    Sample("upfirdn", lambda h, x: signal.upfirdn(h, x, 2, 3), (K, V)),
    Sample("upfirdn-wrap", lambda h, x: signal.upfirdn(h, x, 3, 2, axis=1, mode="wrap"), (K, T)),
    Sample("decimate", lambda x: signal.decimate(x * np.ones(30), 2), (1.3,), **F8),
    Sample("decimate-fir", lambda x: signal.decimate(x, 3, n=4, ftype="fir"), (V,)),
    Sample("decimate-one-way", lambda x: signal.decimate(x, 3, n=3, zero_phase=False, axis=1), (T,), **F8),
    Sample("welch", second(signal.welch, nperseg=6), (V,)),
    Sample("welch-median", second(signal.welch, nperseg=4, average="median", scaling="spectrum"), (V,)),
    Sample("welch-complex", second(signal.welch, nperseg=5, detrend="linear", axis=1), (T,), dtypes=("c16",)),
    Sample("csd", second(signal.csd, nperseg=5, nfft=8, window="hamming"), (V, U)),
    Sample("periodogram", second(signal.periodogram, fs=2.0, detrend=False), (V,)),
    Sample("periodogram-nfft", second(signal.periodogram, nfft=8, axis=1), (T,)),
    Sample("coherence", second(signal.coherence, nperseg=4), (V, U), **F8),
    Sample("spectrogram", third(signal.spectrogram, nperseg=6, noverlap=3), (V,)),
    Sample(
        "spectrogram-magnitude", third(signal.spectrogram, nperseg=5, mode="magnitude", axis=1), (T,), **F8
    ),
    Sample(
        "spectrogram-phase", third(signal.spectrogram, nperseg=5, mode="phase", detrend=False), (V,), **F8
    ),
    Sample("stft", third(signal.stft, nperseg=6), (V,)),
    Sample(
        "stft-odd", third(signal.stft, nperseg=5, noverlap=3, boundary="odd", scaling="psd", axis=1), (T,)
    ),
    Sample("stft-complex", third(signal.stft, nperseg=4, return_onesided=False), (V,), dtypes=("c16",)),
    Sample("istft", second(signal.istft), (M[:, :4],), dtypes=("f8", "c16")),
    Sample(
        "istft-psd",
        second(signal.istft, fs=2.0, scaling="psd", input_onesided=False),
        (M[:4],),
        dtypes=("c16",),
    ),
    Sample("stft-and-back", lambda x: signal.istft(signal.stft(x, nperseg=6)[2], nperseg=6)[1], (V,)),
    Sample("freqz", lambda b, a: signal.freqz(b, a, 7)[1], (B, A), **F8),
    Sample("freqz-whole", lambda b: signal.freqz(b, worN=6, whole=True)[1], (B,), **F8),
    Sample("sosfreqz", lambda s: signal.sosfreqz(sections(s), 5)[1], (SOS,), **F8),
    Sample("czt", signal.czt, (V,), dtypes=("f8", "c16")),
    Sample("czt-spiral", lambda x: signal.czt(x, 5, np.exp(-0.1j), 0.9 + 0.1j, axis=1), (T,), **F8),
    Sample("zoom_fft", lambda x: signal.zoom_fft(x, [0.2, 0.7], 6, endpoint=True), (V,), **F8),
    Sample("lombscargle", lambda t, y, w: signal.lombscargle(t, y, w), (TIMES, V, K**2 + 0.5), **F8),
    Sample(
        "lombscargle-amplitude",
        lambda t, y: signal.lombscargle(t, y, [0.7, 1.9], normalize="amplitude", floating_mean=True),
        (TIMES, V),
        **F8,
    ),
    Sample("sawtooth", signal.sawtooth, (V * 3, 0.3), **F8),
    Sample("square-wave", lambda t: t * signal.square(t, 0.3), (V * 3,), **F8),
    *[
        Sample(
            f"chirp-{m}", lambda t, f, g, m=m: signal.chirp(t, f, 2.0, g, m, 30), (TIMES / 3, 0.7, 1.9), **F8
        )
        for m in ("linear", "quadratic", "logarithmic", "hyperbolic")
    ],
    Sample("gausspulse", lambda t: signal.gausspulse(t, 2.0, retquad=True, retenv=True), (V / 5,), **F8),
    Sample("vectorstrength", lambda e, p: signal.vectorstrength(e, p), (TIMES, 2.3), **F8),
    Sample("firwin", lambda c: signal.firwin(7, c), (0.4,), **F8),
    Sample(
        "firwin-bands",
        lambda c: signal.firwin(9, c, pass_zero=False, fs=4.0),
        (np.array([0.5, 1.1, 1.6]),),
        **F8,
    ),
    Sample(
        "firwin-bandstop",
        lambda c: signal.firwin(9, c, pass_zero="bandstop", scale=False),
        (B[:2][::-1],),
        **F8,
    ),
    Sample("firwin-highpass", lambda c: signal.firwin(7, c, width=0.3, pass_zero="highpass"), (0.4,), **F8),
    Sample("lfiltic", signal.lfiltic, (B, A, V[:3], U[:1]), **F8),
    Sample("lfiltic-long", lambda b, y: signal.lfiltic(b, A, y), (K, V[:4]), **F8),
    Sample("freqs", lambda b, a, w: signal.freqs(b, a, w)[1], (B, A, K**2 + 0.5), **F8),
    Sample(
        "freqz_zpk", lambda z, p: signal.freqz_zpk(z, p, 1.5, [0.3, 1.1])[1], (B, A / 2), dtypes=("f8", "c16")
    ),
    Sample("group_delay", lambda b, a: signal.group_delay((b, a), 6)[1], (B, A), **F8),
    Sample("sweep_poly", lambda t, p: signal.sweep_poly(t, p, 30), (V, A), **F8),
]
