"""The query language: tokens, tree, parser and the way back to text."""
