"""Typed facts that everything else stands on: errors, canonical JSON, controls, treatments, models, tasks."""
