"""A function run on values with tangents: what jvp and jacfwd share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from funcgrad import tree
from funcgrad._core.boxes import fixed, leaving, own_box
from funcgrad._interpreters.forward import Dual
from funcgrad._transforms.arguments import Chosen, output_leaf, split_aux, tell_cause, warn_of_refusal, zeros
from funcgrad._transforms.debugging import new_forward, require_finite
from funcgrad._transforms.recording import pass_on_cut, plain_aux


class Push:
    """A function pushed forward along tangents.

    Attributes:
        outs: the output's leaves without this trace; `tangents` theirs.
        out_treedef: the output's structure.
        aux: the auxiliary output.
    """

    __slots__ = ("outs", "tangents", "out_treedef", "aux")

    def __init__(
        self,
        chosen: Chosen,
        treedef,
        leaves: Sequence[Any],
        tangents: Sequence[Any],
        f: Callable,
        has_aux: bool,
    ):
        """`tangents` has None for a leaf that is passed as it is."""
        forward = new_forward()
        duals = [forward.dual(fixed(x), fixed(t)) for x, t in zip(leaves, tangents)]
        try:
            out = chosen.call(tree.unflatten(treedef, duals))
        except Exception as error:
            tell_cause(error, forward)
            raise
        finally:
            forward.close()

        warn_of_refusal(forward, f)

        def strip(x):
            return leaving(x.value if type(x) is Dual and x._trace is forward else x)

        out, aux = split_aux(out, has_aux, f)
        outs, self.out_treedef = tree.flatten(out)
        require_finite(forward, outs)
        depends = [type(output_leaf(o, f)) is Dual and o._trace is forward for o in outs]
        self.outs = [strip(o) for o in outs]
        self.tangents = [own_box(o.tangent) if d else zeros(o) for o, d in zip(outs, depends)]
        self.aux = plain_aux(aux, strip) if has_aux else None
        if forward.cuts and not all(depends):
            place, _ = next(iter(forward.cuts.values()))
            for leaf in leaves:
                pass_on_cut(leaf, place)
