"""How layers are wired; a backbone receives a layer factory."""
