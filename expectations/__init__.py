"""Great Expectations suites, one module per table contract they belong to."""
