"""Conformance suites for the ports, and the services that tests run against."""
