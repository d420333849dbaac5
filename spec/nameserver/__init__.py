"""What a name server decides: who is registered, what the routes are, who is still alive."""
