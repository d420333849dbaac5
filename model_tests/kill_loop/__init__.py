"""A store is written, its process is killed at any moment, and nothing that was acknowledged is missing.

`writer` is the process that dies, `executioner` starts and kills it, `inspection` looks at what it
left, and `python -m model_tests.kill_loop --kills 200 --seed 1` runs them in a circle.
"""
