"""`scipy.ndimage`, name for name, with derivatives: filters, interpolation, statistics of regions."""

from scipy import ndimage as _own

from funcgrad.scipy._mirror import mirror as _mirror
from funcgrad.scipy.ndimage import _filters, _interpolation, _measurements, _morphology

_INSTEAD = {
    "geometric_transform": "Write map_coordinates(image, coordinates) with an array of all coordinates.",
    "binary_erosion": "Its values are booleans: apply it to stop_gradient(x), or take grey_erosion(x).",
    "generic_filter": "Stack shifted images, np.stack([np.roll(x, i) for i in window]), and reduce them.",
}

globals().update(_mirror(_own, _INSTEAD))
