"""Order: what takes the shared Milvus server away from under everybody runs last."""

from __future__ import annotations

import pytest

OUTAGE = "milvus_outage"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: OUTAGE in getattr(item, "fixturenames", ()))
