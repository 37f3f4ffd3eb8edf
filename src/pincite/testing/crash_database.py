"""A database of a store's server, for one scene alone."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager

from pincite.testing.crash_checks import CORPUS


@contextmanager
def own_database(uri: str) -> Iterator[str]:
    """The name of a new database, dropped with the corpus that it holds at the end."""
    from pymilvus import MilvusClient

    name = f"crash_{uuid.uuid4().hex[:12]}"
    with closing(MilvusClient(uri, dedicated=True)) as server:
        server.create_database(name)
        try:
            yield name
        finally:
            _empty(uri, name)
            server.drop_database(name)


def _empty(uri: str, name: str) -> None:
    from pymilvus import MilvusClient

    with closing(MilvusClient(uri, db_name=name, dedicated=True)) as database:
        database.drop_alias(f"pincite_{CORPUS}")
        for collection in database.list_collections():
            database.drop_collection(collection)
