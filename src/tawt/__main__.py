"""`python -m tawt`."""

from tawt.cli import main

main()
