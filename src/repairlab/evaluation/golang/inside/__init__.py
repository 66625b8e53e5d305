"""Sources that run inside the sandbox: the driver, and what is added to Go's packages runtime and testing."""
