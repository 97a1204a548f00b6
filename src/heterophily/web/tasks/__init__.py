"""What a job does, in its own process: one file per kind of job."""
