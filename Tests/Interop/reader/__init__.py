"""A second reader of Daybook's logs, written from Docs/Format.md alone."""
