import pytest

# The suites are part of the package; their assertions explain themselves only when rewritten.
pytest.register_assert_rewrite(
    "pincite.testing.catalog_suite_documents",
    "pincite.testing.catalog_suite_journal",
    "pincite.testing.catalog_suite_l0",
    "pincite.testing.catalog_suite_leases",
    "pincite.testing.catalog_suite_lookups",
    "pincite.testing.catalog_suite_processes",
    "pincite.testing.catalog_suite_records",
)
