"""The same checks led by coverage, where atheris is installed.

    python -m tests.fuzz.coverage_guided csv -max_total_time=60

The input is the whole file; a corpus of valid files may be given as a folder, as for libFuzzer.
"""

import sys
import tempfile
from pathlib import Path
from random import Random


def main() -> None:
    """Run the fuzzer on files of one format."""
    import atheris

    with atheris.instrument_imports(include=["twoheads"]):
        from tests.fuzz.tables import WRITERS
        from tests.fuzz.targets import checked
    name = {Path(name).suffix[1:]: name for name in WRITERS}[sys.argv.pop(1)]

    def one_input(content: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.write_bytes(content)
            checked(path, Random(0))

    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
