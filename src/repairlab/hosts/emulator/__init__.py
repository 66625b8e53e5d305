"""A host that speaks LM Studio's protocol on a real socket, driven by engines of known behaviour.

It is a process of its own (``python -m repairlab.hosts.emulator``) and imports nothing heavy.
"""
