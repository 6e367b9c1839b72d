"""The service: an index over HTTP (`run`), and a client for it (`client`)."""
