"""`python -m model_tests.interop.reference_filler STORE`: fills a store and waits to be killed."""

import sys
import time
from pathlib import Path

from model_tests.interop.peer import SMALL_FILES
from model_tests.interop.reference import fill_reference, open_reference

FILLED_MARK = "filled"
"""A file beside the store that says that everything was stored."""

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    fill_reference(open_reference(folder, SMALL_FILES))
    folder.with_name(FILLED_MARK).touch()
    time.sleep(600)
