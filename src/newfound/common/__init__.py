"""What everyone may use: files, Ctrl-C, extras."""
