"""`scipy.signal`, name for name, with derivatives: convolution, filters, smoothing, spectra, waveforms.

Window functions and filter designs are SciPy's own: their results are constants.
"""

from scipy import signal as _own

from funcgrad.scipy._mirror import mirror as _mirror
from funcgrad.scipy.signal import _convolve, _designs, _filters, _smoothing, _spectra, _waveforms

_INSTEAD = {
    "cont2discrete": "Write the matrices with scipy.linalg.expm: the exponential of [[A, B], [0, 0]] * dt.",
    "envelope": "Write np.abs(scipy.signal.hilbert(x)).",
    "peak_prominences": "find_peaks(x, prominence=0) has them, with derivatives.",
    "peak_widths": "Apply it to stop_gradient(x).",
    "sepfir2d": "Convolve along one axis after the other with fftconvolve(x, h, axes=i).",
}

globals().update(_mirror(_own, _INSTEAD))
