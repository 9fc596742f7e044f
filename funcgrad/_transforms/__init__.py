"""The transforms: a ladder, in which each file uses only those before it.

arguments, debugging, recording, derivatives, batching, jacobians, hessians, staging, checkpointing, numeric,
custom.
"""
