"""Programs that run inside a sandbox, beside tested code. They import nothing of repairlab."""
