"""A folder sync as its user sees it: counts, what is searchable, what is refused."""

from __future__ import annotations

import pytest

from pincite.errors import (
    CollectionConflict,
    EmbedderChanged,
    RecipeChanged,
    RequestInvalid,
    ScopeInvalid,
    SourceConflict,
)
from pincite.writing.request import IngestRequest


def write(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def codes(entries):
    return [entry["code"] for entry in entries]


def many(folder, count):
    for number in range(count):
        write(folder, f"page-{number:02}.md", f"Page number {number}.\n")


def test_first_sync_adds_every_document(home, folder):
    receipt = home.ingest(folder)
    assert receipt.documents["seen"] == receipt.documents["added"] == 3
    assert receipt.chunks["written"] == receipt.embeddings["computed"] == 3
    assert home.documents() == {"notes/ant.md", "notes/bee.md", "notes/cat.md"}
    assert home.verified()


def test_second_sync_writes_and_embeds_nothing(home, folder):
    home.ingest(folder)
    before = home.rows()
    receipt = home.ingest(folder)
    assert receipt.documents["unchanged"] == 3
    assert receipt.chunks["written"] == receipt.embeddings["computed"] == 0
    assert receipt.embeddings["cached"] == 0
    assert home.rows() == before


def test_edited_document_is_updated_alone(home, folder):
    home.ingest(folder)
    write(folder, "bee.md", "# bee\n\nOnly honey.\n")
    receipt = home.ingest(folder)
    assert (receipt.documents["updated"], receipt.documents["unchanged"]) == (1, 2)
    assert receipt.embeddings["computed"] == 1
    assert home.rows()["notes/bee.md#chunk-0"]["content"] == "# bee\n\nOnly honey."
    assert home.verified()


def test_changed_metadata_alone_is_an_update_that_embeds_nothing(home, folder):
    write(folder, "ant.md", "---\ntitle: Ant\n---\nAbout ants.\n")
    home.ingest(folder)
    write(folder, "ant.md", "---\ntitle: The ant\n---\nAbout ants.\n")
    receipt = home.ingest(folder)
    assert receipt.documents["updated"] == 1
    assert (receipt.embeddings["computed"], receipt.embeddings["cached"]) == (0, 1)


def test_touched_file_is_unchanged(home, folder):
    home.ingest(folder)
    (folder / "bee.md").touch()
    assert home.ingest(folder).documents["unchanged"] == 3


def test_shrunk_document_loses_its_tail(make_home, folder):
    home = make_home(**{"rag.ingest.chunk-size": 20, "rag.ingest.chunk-overlap": 2})
    long = "\n\n".join(f"Paragraph {n} tells of something else entirely." for n in range(20))
    write(folder, "ant.md", long)
    home.ingest(folder)
    before = sum(row["doc_id"] == "notes/ant.md" for row in home.rows().values())
    write(folder, "ant.md", "Short now.")
    receipt = home.ingest(folder)
    assert receipt.chunks["deleted"] == before - 1 > 3
    assert [k for k in home.rows() if k.startswith("notes/ant")] == ["notes/ant.md#chunk-0"]
    assert home.verified()


def test_document_that_became_empty_leaves_the_store(home, folder):
    home.ingest(folder)
    write(folder, "cat.md", "---\ntitle: Cat\n---\n")
    receipt = home.ingest(folder)
    assert receipt.documents["empty"] == 1
    assert "notes/cat.md" not in home.documents()
    assert home.ingest(folder).documents["empty"] == 1
    assert home.verified()


def test_vanished_document_is_pruned(home, folder):
    home.ingest(folder)
    (folder / "cat.md").unlink()
    receipt = home.ingest(folder)
    assert receipt.documents["deleted"] == 1
    assert receipt.chunks["deleted"] == 1
    assert home.documents() == {"notes/ant.md", "notes/bee.md"}
    assert home.verified()


def test_prune_never_keeps_vanished_documents(home, folder):
    home.ingest(folder)
    (folder / "cat.md").unlink()
    assert home.ingest(folder, prune="never").documents["deleted"] == 0
    assert "notes/cat.md" in home.documents()


def test_pruning_more_than_half_and_more_than_ten_is_refused(home, folder):
    many(folder, 20)
    home.ingest(folder)
    for path in sorted(folder.glob("page-*.md"))[:12]:
        path.unlink()
    receipt = home.ingest(folder)
    assert receipt.error is not None
    assert receipt.error.code == "PRUNE_REFUSED"
    assert receipt.documents["deleted"] == 0
    assert len(home.documents()) == 23
    assert home.ingest(folder, prune="force").documents["deleted"] == 12
    assert len(home.documents()) == 11


def test_pruning_ten_is_not_refused(home, folder):
    many(folder, 10)
    home.ingest(folder)
    for path in folder.glob("page-*.md"):
        path.unlink()
    assert home.ingest(folder).documents["deleted"] == 10


def test_empty_folder_prunes_nothing(home, folder):
    home.ingest(folder)
    for path in folder.glob("*.md"):
        path.unlink()
    receipt = home.ingest(folder, prune="force")
    assert receipt.documents["deleted"] == 0
    assert "FOLDER_EMPTY" in codes(receipt.warnings)
    assert len(home.documents()) == 3


def test_single_file_keeps_the_root_s_doc_id_and_prunes_nothing(home, folder):
    home.ingest(folder)
    (folder / "cat.md").unlink()
    write(folder, "bee.md", "New bee.\n")
    receipt = home.ingest(folder / "bee.md")
    assert receipt.documents["updated"] == 1
    assert receipt.documents["deleted"] == 0
    assert home.documents() == {"notes/ant.md", "notes/bee.md", "notes/cat.md"}


def test_subfolder_of_a_synced_root_prunes_only_below_itself(home, folder):
    write(folder, "deep/dog.md", "Dog.\n")
    write(folder, "deep/eel.md", "Eel.\n")
    home.ingest(folder)
    (folder / "deep/eel.md").unlink()
    (folder / "cat.md").unlink()
    receipt = home.ingest(folder / "deep")
    assert receipt.documents["deleted"] == 1
    assert "notes/deep/eel.md" not in home.documents()
    assert {"notes/cat.md", "notes/deep/dog.md"} <= home.documents()


def test_file_moved_with_its_own_doc_id_is_not_pruned(home, folder):
    write(folder, "old.md", "---\ndoc_id: handbook\n---\nThe handbook.\n")
    home.ingest(folder)
    (folder / "old.md").rename(folder / "new.md")
    receipt = home.ingest(folder)
    assert receipt.documents["deleted"] == 0
    assert "handbook" in home.documents()


def test_changed_doc_id_replaces_the_old_document(home, folder):
    write(folder, "old.md", "---\ndoc_id: first\n---\nThe handbook.\n")
    home.ingest(folder)
    write(folder, "old.md", "---\ndoc_id: second\n---\nThe handbook.\n")
    receipt = home.ingest(folder)
    assert (receipt.documents["added"], receipt.documents["deleted"]) == (1, 1)
    assert "first" not in home.documents()
    assert "second" in home.documents()


def test_decomposed_names_are_one_identity_and_are_pruned(home, tmp_path):
    decomposed = tmp_path / "cafe\u0301"
    write(decomposed, "u\u0308ber/a.md", "A.\n")
    write(decomposed, "u\u0308ber/b.md", "B.\n")
    home.ingest(decomposed)
    assert home.documents() == {"caf\u00e9/\u00fcber/a.md", "caf\u00e9/\u00fcber/b.md"}
    (decomposed / "u\u0308ber/b.md").unlink()
    assert home.ingest(decomposed / "u\u0308ber").documents["deleted"] == 1
    assert home.ingest(decomposed).documents["unchanged"] == 1


def test_other_sources_are_not_pruned(home, folder, tmp_path):
    other = tmp_path / "other"
    write(other, "one.md", "One.\n")
    home.ingest(folder)
    home.ingest(other)
    (folder / "cat.md").unlink()
    home.ingest(folder)
    assert home.documents() == {"notes/ant.md", "notes/bee.md", "other/one.md"}


def test_unreadable_file_keeps_its_old_version(home, folder):
    home.ingest(folder)
    (folder / "bee.md").write_bytes(b"caf\xe9")
    receipt = home.ingest(folder)
    assert receipt.documents["failed"] == 1
    assert receipt.documents["deleted"] == 0
    assert "notes/bee.md" in home.documents()
    write(folder, "bee.md", "# bee\n\nEverything about the bee.\n")
    assert home.ingest(folder).documents["failed"] == 0


def test_two_files_with_one_doc_id_are_a_conflict_that_names_both(home, folder):
    write(folder, "one.md", "---\ndoc_id: same\n---\nFirst.\n")
    write(folder, "two.md", "---\ndoc_id: same\n---\nSecond.\n")
    receipt = home.ingest(folder)
    assert receipt.error is not None
    assert receipt.error.code == "IDENTITY_CONFLICT"
    assert "notes/one.md" in receipt.error.message
    assert "notes/two.md" in receipt.error.message
    assert receipt.documents["failed"] == 1
    assert home.rows()["same#chunk-0"]["content"] == "First."


def test_doc_id_of_another_source_is_a_conflict_while_its_file_is_there(home, folder, tmp_path):
    write(folder, "one.md", "---\ndoc_id: same\n---\nFirst.\n")
    other = tmp_path / "other"
    write(other, "two.md", "---\ndoc_id: same\n---\nSecond.\n")
    home.ingest(folder)
    receipt = home.ingest(other)
    assert receipt.error is not None
    assert receipt.error.code == "IDENTITY_CONFLICT"
    assert "notes/one.md" in receipt.error.message
    assert "other/two.md" in receipt.error.message
    assert home.rows()["same#chunk-0"]["content"] == "First."
    (folder / "one.md").unlink()
    assert home.ingest(other).documents["updated"] == 1
    assert home.ingest(folder).documents["deleted"] == 0
    assert home.rows()["same#chunk-0"]["content"] == "Second."


def test_two_names_that_are_one_after_normalisation_are_a_conflict(home, folder):
    write(folder, "caf\u00e9.md", "Composed.\n")
    write(folder, "cafe\u0301.md", "Decomposed.\n")
    receipt = home.ingest(folder)
    assert codes(receipt.failures) == ["IDENTITY_CONFLICT"]
    assert "normalisation" in receipt.failures[0]["message"]


def test_refused_request_binds_no_folder(home, folder):
    for source in ("a/b", ""):
        with pytest.raises(RequestInvalid, match="source name"):
            home.ingest(folder, source=source)
    (folder / "picture.png").write_bytes(b"x")
    with pytest.raises(RequestInvalid):
        home.ingest(folder / "picture.png")
    home.ingest(folder)
    assert "notes/ant.md" in home.documents()


def test_two_folders_of_one_name_in_one_request_are_a_conflict(home, tmp_path):
    write(tmp_path / "a/same", "x.md", "X.\n")
    write(tmp_path / "b/same", "x.md", "X.\n")
    with pytest.raises(SourceConflict):
        home.ingest(tmp_path / "a/same", tmp_path / "b/same")


@pytest.mark.parametrize("inner_first", [True, False])
def test_paths_inside_each_other_give_each_file_one_identity(home, folder, inner_first):
    write(folder, "deep/dog.md", "Dog.\n")
    paths = [folder / "deep", folder] if inner_first else [folder, folder / "deep"]
    home.ingest(*paths)
    assert "notes/deep/dog.md" in home.documents()
    assert len(home.documents()) == 4


def test_source_inside_another_keeps_its_files(home, folder):
    write(folder, "deep/dog.md", "Dog.\n")
    home.ingest(folder / "deep")
    home.ingest(folder)
    assert "deep/dog.md" in home.documents()
    assert "notes/deep/dog.md" not in home.documents()
    write(folder, "deep/dog.md", "Another dog.\n")
    home.ingest(folder / "deep", folder)
    assert home.rows()["deep/dog.md#chunk-0"]["content"] == "Another dog."
    assert home.verified()


def test_file_that_never_was_in_the_corpus_is_not_counted_as_deleted(home, folder):
    (folder / "bad.md").write_bytes(b"caf\xe9")
    home.ingest(folder)
    (folder / "bad.md").unlink()
    receipt = home.ingest(folder)
    assert receipt.documents["deleted"] == 0
    assert receipt.documents["failed"] == 0


def test_one_doc_id_in_two_scopes_is_a_conflict(home, folder):
    home.ingest(folder)
    receipt = home.ingest(folder, kb_scope="rag-eval")
    assert receipt.error is not None
    assert receipt.error.code == "IDENTITY_CONFLICT"
    assert receipt.documents["failed"] == 3
    assert {row["kb_scope"] for row in home.rows().values()} == {""}


def test_source_name_is_bound_to_its_folder(home, folder, tmp_path):
    home.ingest(folder)
    other = tmp_path / "elsewhere" / "notes"
    write(other, "x.md", "X.\n")
    with pytest.raises(SourceConflict, match="notes"):
        home.ingest(other)
    assert home.ingest(other, source="other-notes").documents["added"] == 1


def test_changed_embedder_is_refused(home, make_home, folder):
    home.ingest(folder)
    other = make_home(**{"embedder.provider": "local"})
    with pytest.raises(EmbedderChanged):
        other.ingest(folder)


def test_changed_chunk_size_is_refused(home, make_home, folder):
    home.ingest(folder)
    with pytest.raises(RecipeChanged, match="200 tokens"):
        make_home(**{"rag.ingest.chunk-size": 200}).ingest(folder)


def test_lost_store_is_noticed(home, make_home, folder, tmp_path):
    home.ingest(folder)
    with pytest.raises(CollectionConflict, match="no such collection"):
        make_home(**{"store.uri": f"memory://{tmp_path}-another"}).ingest(folder)


def test_overlapping_paths_count_each_file_once(home, folder):
    assert home.ingest(folder, folder / "ant.md").documents["seen"] == 3


def test_equal_text_is_embedded_once(home, folder):
    write(folder, "dog.md", "Twins.\n")
    write(folder, "eel.md", "Twins.\n")
    receipt = home.ingest(folder)
    assert (receipt.embeddings["computed"], receipt.embeddings["cached"]) == (4, 1)


def test_category_and_scope_reach_every_row(home, folder):
    home.ingest(folder, kb_scope="team a", category="animals")
    assert {row["kb_scope"] for row in home.rows().values()} == {"team a"}


def test_oversized_metadata_stays_in_the_catalogue(home, folder):
    write(folder, "ant.md", f"---\nnotes: {'x' * 70_000}\n---\nAbout ants.\n")
    receipt = home.ingest(folder)
    assert receipt.documents["added"] == 3
    assert "METADATA_SHORTENED" in codes(receipt.warnings)


def test_path_that_is_too_long_for_an_id_fails_alone(home, folder):
    deep = folder
    for _ in range(4):
        deep = deep / ("深" * 60)
    write(deep, "x.md", "Deep.\n")
    receipt = home.ingest(folder)
    assert codes(receipt.failures) == ["DOCUMENT_REJECTED"]
    assert receipt.documents["added"] == 3


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"paths": ()}, RequestInvalid),
        ({"paths": ("x",), "corpus": "nope"}, RequestInvalid),
        ({"paths": ("x",), "prune": "maybe"}, RequestInvalid),
        ({"paths": ("x", "y"), "source": "z"}, RequestInvalid),
        ({"paths": ("x",), "kb_scope": "  "}, ScopeInvalid),
        ({"paths": ("x",), "kb_scope": "ä" * 129}, ScopeInvalid),
    ],
)
def test_bad_requests_are_refused(given, error):
    with pytest.raises(error):
        IngestRequest(**given)


def test_missing_path_is_refused(home, tmp_path):
    with pytest.raises(RequestInvalid, match="does not exist"):
        home.ingest(tmp_path / "nowhere")


def test_runs_are_kept_on_record(home, folder):
    receipt = home.ingest(folder)
    (run,) = home.run(lambda w: _runs(w))
    assert run.run_id == receipt.run_id
    assert run.state == "COMPLETED"
    assert run.receipt["documents"]["added"] == 3


async def _runs(workspace):
    return workspace.catalog.activity.runs()
