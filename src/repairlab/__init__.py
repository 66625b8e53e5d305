"""repairlab: preregistered experiments on code-repair agents with local language models."""

__version__ = "0.1.0"
