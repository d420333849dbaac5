"""What one client process decides for itself: its name, its routes, its sends, its start and its end."""
