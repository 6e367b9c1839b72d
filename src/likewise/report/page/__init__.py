"""The sections of report.html, one idea a module; `likewise.report.html` puts them in order."""
