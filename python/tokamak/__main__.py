"""`python -m tokamak ARGUMENTS` runs the program `tokamak`, and so does the command that the package installs."""
import os
import subprocess
import sys

from ._errors import Error
from ._library import program


def main() -> None:
    try:
        command = [program(), *sys.argv[1:]]
    except Error as problem:
        sys.exit(f"error: {problem}")
    if os.name == "posix":
        os.execv(command[0], command)
    sys.exit(subprocess.call(command))


if __name__ == "__main__":
    main()
