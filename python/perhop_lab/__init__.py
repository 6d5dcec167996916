"""Scenarios in a real Linux kernel."""
