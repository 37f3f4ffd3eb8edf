"""A database of a store's server, for one scene alone."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

from pincite.testing.crash_checks import CORPUS


@contextmanager
def own_database(uri: str, *corpora: str) -> Iterator[str]:
    """The name of a new database, dropped at the end with these corpora; without, the crash one."""
    from pymilvus import MilvusClient

    name = f"crash_{uuid.uuid4().hex[:12]}"
    with closing(MilvusClient(uri, dedicated=True)) as server:
        server.create_database(name)
        try:
            yield name
        finally:
            _empty(uri, name, corpora or (CORPUS,))
            server.drop_database(name)


def _empty(uri: str, name: str, corpora: Sequence[str]) -> None:
    from pymilvus import MilvusClient

    with closing(MilvusClient(uri, db_name=name, dedicated=True)) as database:
        for corpus in corpora:
            database.drop_alias(f"pincite_{corpus}")
        for collection in database.list_collections():
            database.drop_collection(collection)
