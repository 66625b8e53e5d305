"""Text templates over query results."""
