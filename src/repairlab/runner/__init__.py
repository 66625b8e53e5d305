"""One cell's life and the campaign around it."""
