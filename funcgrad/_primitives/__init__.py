"""The primitives, by area: one primitive, one block."""
