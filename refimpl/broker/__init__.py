"""The broker: a synchronous core on the storage engine, in rooms that bear Apache's names."""
