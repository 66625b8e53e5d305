"""Systems under test: tool schemas, budgets, the interactive loop, the transcript."""
