"""What everything else stands on: types, tracers, primitives and programs."""
