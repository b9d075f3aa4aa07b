"""`python -m newfound`."""

from newfound.cli import main

if __name__ == "__main__":
    main()
