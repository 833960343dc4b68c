// Daybook: being built.
