// The command: see the other files of this target.
