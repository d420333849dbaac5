"""What histories must satisfy: one module a family of rules, incremental monitors, witnesses as data."""
