"""A run from its inputs to its results: the session, the pipeline, and what each verb does with it."""
