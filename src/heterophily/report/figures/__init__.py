"""One file per figure: how its records are made, and how they are drawn."""
