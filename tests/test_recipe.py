import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from pincite.errors import EmbedderChanged, RecipeChanged
from pincite.recipe import Recipe, fingerprint

RECIPE = Recipe("window/1", 400, 80, "hash|é|384", 384)


def test_recipe_reads_back() -> None:
    assert Recipe.from_json(RECIPE.to_json()) == RECIPE
    assert json.loads(RECIPE.to_json())["embedder"] == "hash|é|384"


def test_equal_recipes_have_equal_text() -> None:
    assert replace(RECIPE).to_json() == RECIPE.to_json()


def test_same_recipe_is_accepted() -> None:
    RECIPE.require_same(replace(RECIPE), "docs")


@pytest.mark.parametrize("change", [{"embedder": "other"}, {"dim": 768}])
def test_other_embedder_is_refused_also_with_other_chunks(change: dict[str, object]) -> None:
    for wanted in (replace(RECIPE, **change), replace(RECIPE, chunk_size=1, **change)):
        with pytest.raises(EmbedderChanged, match="'docs'"):
            RECIPE.require_same(wanted, "docs")


@pytest.mark.parametrize(
    "change",
    [
        {"chunker": "other/1"},
        {"chunk_size": 401},
        {"chunk_overlap": 81},
        {"row_schema": 3},
        {"embedded_text": "heading and content"},
    ],
)
def test_other_cut_is_refused_with_what_differs(change: dict[str, object]) -> None:
    wanted = replace(RECIPE, **change)
    with pytest.raises(RecipeChanged) as caught:
        RECIPE.require_same(wanted, "docs")
    assert RECIPE.cut() != wanted.cut()
    assert RECIPE.cut() in str(caught.value)
    assert wanted.cut() in str(caught.value)


def test_fingerprint_is_stable() -> None:
    # Recorded: a change of the fingerprint writes every document of every corpus again.
    recorded = "dbb85133fa41911f75505ca421e4814cda800d71e5013daad4b60c61e3dec9a6"
    assert fingerprint(RECIPE, "ab" * 32, '{"title":"é"}') == recorded


PARTS = st.text(max_size=6)


@given(PARTS, PARTS, PARTS, PARTS)
@hypothesis_settings(max_examples=60, deadline=None)
def test_fingerprint_tells_digest_and_metadata_apart(a: str, b: str, c: str, d: str) -> None:
    records = (json.dumps(b), json.dumps(d))
    same = fingerprint(RECIPE, a, records[0]) == fingerprint(RECIPE, c, records[1])
    assert same == ((a, b) == (c, d))


@pytest.mark.parametrize("change", [{"chunk_size": 401}, {"embedder": "x"}, {"row_schema": 3}])
def test_fingerprint_covers_the_recipe(change: dict[str, object]) -> None:
    other = replace(RECIPE, **change)
    assert fingerprint(other, "a", "b") != fingerprint(RECIPE, "a", "b")
