"""Ray tracing through a doublet: the lens's matrix, and a design that brings rays together.

Source: Born and Wolf, Principles of Optics, section 4.4, for the matrices of paraxial optics; the surfaces
are those of a cemented achromat. At the axis the Jacobian of the exact trace is the product of the matrices,
and off the axis it is checked by complex steps.
"""

import numpy as np
from compare import agree, complex_step

from funcgrad import grad, jacfwd, jacrev, vmap

RADII = np.array([61.47, -43.47, -124.6])  # in mm
GAPS = np.array([6.0, 2.5])
INDICES = np.array([1.0, 1.517, 1.649, 1.0])


def trace(ray, radii, gaps=GAPS):
    """A ray (height, angle) through all surfaces, from the plane of the first vertex to that of the last."""
    height, angle = ray
    along = 0.0  # how far from the vertex of the surface ahead
    for i, radius in enumerate(radii):
        # The point of the sphere on the ray, in front of the centre.
        sin, cos = np.sin(angle), np.cos(angle)
        z, y = along - radius, height
        middle = z * cos + y * sin
        root = np.sqrt(radius**2 - (z**2 + y**2 - middle**2))
        length = -middle - np.where(radius > 0, 1.0, -1.0) * root
        along, height = along + length * cos, height + length * sin
        # Snell's law, with the angle to the normal.
        normal = np.arcsin(height / radius)
        incident = angle + normal
        angle = np.arcsin(INDICES[i] / INDICES[i + 1] * np.sin(incident)) - normal
        if i < len(gaps):
            along = along - gaps[i]
    height = height - along * np.tan(angle)  # back to the vertex
    return np.stack([height, angle])


def miss(height, radii, focus):
    """How far from the axis a ray from afar is in the focal plane."""
    height, angle = trace(np.stack([height, 0.0 * height]), radii)
    return height + focus * np.tan(angle)


def matrix_by_hand(radii, gaps=GAPS):
    total = np.eye(2)
    for i, radius in enumerate(radii):
        before, after = INDICES[i], INDICES[i + 1]
        total = np.array([[1, 0], [-(after - before) / (after * radius), before / after]]) @ total
        if i < len(gaps):
            total = np.array([[1, gaps[i]], [0, 1]]) @ total
    return total


def main():
    matrix = matrix_by_hand(RADII)
    agree(
        "Jacobian at the axis: the paraxial matrix, forward mode", jacfwd(trace)(np.zeros(2), RADII), matrix
    )
    agree("and reverse mode", jacrev(trace)(np.zeros(2), RADII), matrix)
    power = grad(lambda y, radii: -trace(np.stack([y, 0.0 * y]), radii)[1])
    by_hand = complex_step(lambda radii: -matrix_by_hand(radii)[1, 0], RADII)
    agree("how the power depends on the radii: mixed second derivatives", grad(power, 1)(0.0, RADII), by_hand)

    ray = np.array([8.0, 0.02])
    by_ray = complex_step(lambda ray: trace(ray, RADII), ray)
    agree("Jacobian by a ray at the margin, by complex steps", jacrev(trace)(ray, RADII), by_ray)
    by_radii = complex_step(lambda radii: trace(ray, radii), RADII)
    agree("and by the radii", jacrev(trace, 1)(ray, RADII), by_radii)

    # Design: rays at any height shall meet where those near the axis do.
    heights, focus = np.linspace(1.0, 12.0, 8), -matrix[0, 0] / matrix[1, 0]
    misses = vmap(lambda height, curvatures: miss(height, 1 / curvatures, focus), in_axes=(0, None))
    curvatures = 1 / RADII
    before = misses(heights, curvatures)
    for _ in range(10):  # Gauss and Newton, in the two directions that matter
        jacobian = jacrev(misses, 1)(heights, curvatures)
        curvatures = curvatures - np.linalg.lstsq(jacobian, misses(heights, curvatures), rcond=1e-3)[0]
    after = misses(heights, curvatures)
    print(f"  rays miss the focus by {np.std(before):.1e} -> {np.std(after):.1e} mm")
    expected = complex_step(lambda c: np.stack([miss(y, 1 / c, focus) for y in heights]), curvatures)
    agree("Jacobian of the design, by complex steps", jacfwd(misses, 1)(heights, curvatures), expected)
    assert np.std(after) < 0.2 * np.std(before)


if __name__ == "__main__":
    main()
