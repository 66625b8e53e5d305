"""A real small language model on llama.cpp: an optional part, for runs of the whole path with no other host.

The model is far too small to repair anything. What it shows is that the path holds with a real model in it.
"""
