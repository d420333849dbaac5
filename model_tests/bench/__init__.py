"""The figures that are published, measured as ratios and rates in one run."""
