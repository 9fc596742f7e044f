"""The readers of programs: record, reverse, forward, batch, stage. None of them names a primitive."""
