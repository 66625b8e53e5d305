"""Model hosts: the LM Studio client, the owner of what is loaded, and a host that speaks the same protocol.

This file imports nothing: the emulator is a process of its own and has to start in a fraction of a second.
"""
