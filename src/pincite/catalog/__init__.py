"""The SQL database that knows documents, generations, ledger, journal and leases."""
