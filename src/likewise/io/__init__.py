"""Where bytes come from and go to: inputs, formats, compression, the work folder, the manifest."""
