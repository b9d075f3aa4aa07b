"""What everyone may use: errors, arrays, files, locks, Ctrl-C, extras, limits."""
