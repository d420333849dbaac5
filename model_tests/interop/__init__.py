"""The lane of real peers: programs that nobody here wrote, started, spoken to and stopped.

The cases are in files named `case_*.py`, which a plain `pytest` does not collect;
`python -m model_tests.interop` runs them. Files named `test_*.py` check the lane itself and need
no peer.
"""
