"""What travels: frames, headers, bodies, signatures."""
