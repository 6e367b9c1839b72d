"""The verbs as Python users call them, one file each: options are checked, a run goes from its inputs to its result."""
