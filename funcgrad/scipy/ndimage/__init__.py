"""`scipy.ndimage`, name for name, with derivatives: filters, interpolation, statistics of regions."""

from scipy import ndimage as _own

from funcgrad.scipy._mirror import mirror as _mirror
from funcgrad.scipy.ndimage import _filters, _interpolation, _measurements

_INSTEAD = {
    "geometric_transform": "Write map_coordinates(image, coordinates) with an array of all coordinates.",
    "generic_filter": "Stack shifted images, np.stack([np.roll(x, i) for i in window]), and reduce them.",
    "grey_dilation": "A flat one is maximum_filter, which has derivatives.",
    "grey_erosion": "A flat one is minimum_filter, which has derivatives.",
}

globals().update(_mirror(_own, _INSTEAD))
