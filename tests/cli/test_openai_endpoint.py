"""The command line with an OpenAI-compatible endpoint, configured as the README says."""

from __future__ import annotations

import pytest

from pincite.testing.embedding_endpoint import EmbeddingEndpoint


@pytest.fixture
def configured(place):
    """The configuration of an endpoint; gone with the test."""
    path = place / "pincite.toml"

    def write(base_url: str) -> None:
        path.write_text(
            "[embedder]\n"
            'provider = "openai"\n'
            f'base-url = "{base_url}"\n'
            'model = "test-embedding"\n'
            f"dim = {EmbeddingEndpoint.dim}\n"
            "max-retries = 1\n",
            "utf-8",
        )

    yield write
    path.unlink()


def test_ingest_and_lookup_use_the_configured_endpoint(pincite, place, configured):
    home = place / "home-openai"
    with EmbeddingEndpoint() as endpoint:
        configured(endpoint.url)
        key = {"PINCITE_EMBEDDER__PROVIDER": "openai", "OPENAI_API_KEY": "a-secret"}
        ran = pincite("ingest", "notes", "--direct", "--json", home=home, **key)
        assert ran.status == 0, ran.err
        assert ran.json["embeddings"]["computed"] == 2
        found = pincite("lookup", "capital of France", "--json", home=home, **key)
        assert found.status == 0, found.err
        assert len(found.json["results"]) == 2
        assert pincite("verify", home=home, **key).status == 0


def test_endpoint_that_is_gone_exits_3_and_loses_nothing(pincite, place, configured):
    home = place / "home-gone"
    key = {"PINCITE_EMBEDDER__PROVIDER": "openai", "OPENAI_API_KEY": "a-secret"}
    configured("http://127.0.0.1:9/v1")
    ran = pincite("ingest", "notes", "--direct", "--json", home=home, **key)
    assert ran.status == 3
    assert ran.json["error"]["code"] == "EMBEDDER_UNREACHABLE"
    assert "a-secret" not in ran.out + ran.err
    with EmbeddingEndpoint() as endpoint:
        configured(endpoint.url)
        again = pincite("ingest", "notes", "--direct", "--json", home=home, **key)
        assert again.json["documents"]["added"] == 2
