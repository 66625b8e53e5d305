"""Running Go tests: toolchains, modules, build caches, and results that tested code cannot write itself."""
