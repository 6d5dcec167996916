"""What the report of a run consists of: its answer, what changed, tables and pictures."""
