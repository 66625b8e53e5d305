"""Running tests and judging a repair: environments, sandboxes, runners, `resolved_at_1`."""
