import openai

from pincite.retrieval.rerank.openai_errors import VERDICTS


def names(kind: type[Exception]) -> set[str]:
    return {kind.__name__}.union(*(names(child) for child in kind.__subclasses__()))


def test_every_error_of_the_vendor_has_a_verdict() -> None:
    assert names(openai.APIError) == set(VERDICTS)
