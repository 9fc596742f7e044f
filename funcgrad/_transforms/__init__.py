"""The transforms: a ladder, in which each file uses only those before it.

arguments, debugging, recording, pushing, derivatives, batching, chunks, jacobians, hessians, staging,
policies, checkpointing, control, numeric, custom, implicit.
"""
