from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.retrieval.knowledge import KnowledgeSearchRequest
from pincite.retrieval.knowledge_query import request_filter
from pincite.scopes import label_visible
from pincite.store.filters import Filter, matches
from pincite.store.port import Mode


def scope_filter(scope: str, excluded: Sequence[str], ids: dict[str, str]) -> Filter | None:
    request = KnowledgeSearchRequest(
        Mode.DENSE, 5, kb_scope=scope, exclude_scopes=tuple(excluded), scope_ids=ids
    )
    return request_filter(request, lambda name: (name,))


LABELS = st.sampled_from(["", "rag-eval", "team", "*", "%", "null"])


@settings(max_examples=60)
@given(LABELS, LABELS, st.lists(LABELS, max_size=3))
def test_a_citation_sees_what_a_search_sees(label: str, scope: str, excluded: list[str]) -> None:
    filter = scope_filter(scope, excluded, {})
    found = filter is None or matches(filter, {"kb_scope": label})
    assert label_visible(label, scope, excluded) == found


def test_a_row_without_a_label_stays_searchable() -> None:
    filter = scope_filter("", ("rag-eval", ""), {})
    assert filter is not None
    assert matches(filter, {"kb_scope": ""})
    assert matches(filter, {})


def test_all_given_ids_are_enforced_together() -> None:
    filter = scope_filter("", ("rag-eval",), {"session_id": "s", "query_id": "q"})
    assert filter is not None
    assert matches(filter, {"session_id": "s", "query_id": "q"})
    assert not matches(filter, {"session_id": "s", "query_id": "other"})
    assert not matches(filter, {"session_id": "s", "query_id": "q", "kb_scope": "rag-eval"})
