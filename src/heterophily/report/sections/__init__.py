"""Parts of the report, one file each: from a record to HTML."""
