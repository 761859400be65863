"""Packages of the command `loggia`, one module for each format. `dist/build` is the entry."""
