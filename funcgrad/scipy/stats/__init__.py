"""`scipy.stats`, name for name, with derivatives: distributions and statistics."""

from scipy import stats as _own

from funcgrad.scipy._mirror import mirror as _mirror
from funcgrad.scipy.stats import _discrete, _extreme, _gamma, _inference, _multivariate, _normal, _summaries
from funcgrad.scipy.stats._base import Distribution as _Distribution
from funcgrad.scipy.stats._kinds import bare as _bare
from funcgrad.scipy.stats._multivariate import Multivariate as _Multivariate

_names = _mirror(_own)
for _name, _value in _names.items():
    if isinstance(_value, (_own.rv_continuous, _own.rv_discrete)):
        _names[_name] = _bare(_value)
    elif type(_value).__name__.endswith("_gen"):  # the class of multivariate ones has no public name
        _names[_name] = _Multivariate(_value)
for _block in (_normal, _gamma, _extreme, _discrete, _multivariate):
    for _name, _value in vars(_block).items():
        if isinstance(_value, (_Distribution, _Multivariate)):
            _names[_name] = _value

globals().update(_names)

from funcgrad.scipy.stats._kde import gaussian_kde  # noqa: E402  over SciPy's
