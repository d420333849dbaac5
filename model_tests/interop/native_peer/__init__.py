"""Drivers of a native client, run by the Python of its own virtual environment and by nobody else."""
