"""Who owns which queue: the strategies that every member computes alone.

There is no coordinator. Each member sorts what it knows and applies the same pure function; if
two members know the same, their shares are disjoint and (for most strategies) leave nothing out.
"""
