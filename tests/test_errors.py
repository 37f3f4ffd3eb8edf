import copy
import importlib
import inspect
import pickle
import re
from collections import Counter

import pytest

from pincite import errors
from pincite.errors import PinciteError

GROUPS = {"PinciteError", "UsageError", "NotFound", "DocumentError", "ServiceError"}
CLASSES = [
    value
    for value in vars(errors).values()
    if inspect.isclass(value) and issubclass(value, PinciteError)
]
CONCRETE = [kind for kind in CLASSES if kind.__name__ not in GROUPS]
TREE = str(errors.__doc__)


@pytest.mark.parametrize("kind", CONCRETE, ids=lambda kind: kind.__name__)
def test_class_stands_in_the_tree_with_its_code(kind: type[PinciteError]) -> None:
    assert re.search(rf"── {kind.__name__}\s+{kind.code}\b", TREE)


@pytest.mark.parametrize("kind", CONCRETE, ids=lambda kind: kind.__name__)
def test_class_stands_under_its_parent(kind: type[PinciteError]) -> None:
    above = TREE[: TREE.index(f"── {kind.__name__} ")].splitlines()
    nested = "│" in above[-1]
    groups = [name for line in above for name in re.findall(r"^ {4}├── (\w+)", line)]
    expected = groups[-1] if nested else "PinciteError"
    assert [base.__name__ for base in kind.__bases__] == [expected]


def test_tree_names_nothing_else() -> None:
    drawn = re.findall(r"[├└]── (\w+)", TREE)
    assert Counter(drawn) == Counter(kind.__name__ for kind in CLASSES if kind is not PinciteError)


def test_codes_are_unique_and_well_formed() -> None:
    codes = [kind.code for kind in (*CONCRETE, PinciteError)]
    assert [code for code, number in Counter(codes).items() if number > 1] == []
    assert all(re.fullmatch(r"[A-Z]+(_[A-Z]+)*", code) for code in codes)


@pytest.mark.parametrize("kind", CONCRETE, ids=lambda kind: kind.__name__)
def test_class_has_advice_of_its_own(kind: type[PinciteError]) -> None:
    assert "advice" in vars(kind)
    assert re.fullmatch(r"[A-Z].*[.A-Z]", kind.advice)


def test_only_services_are_retryable() -> None:
    retryable = {kind.__name__ for kind in CONCRETE if kind.retryable}
    assert retryable == {
        "CatalogUnreachable",
        "EmbedderUnreachable",
        "ServerBusy",
        "StoreUnreachable",
        "TextsUnreachable",
    }


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_error_survives_pickling(kind: type[PinciteError], protocol: int) -> None:
    error = kind("It is 'é'.", "Do that.", limit=3, ids=["a"])
    again = pickle.loads(pickle.dumps(error, protocol))
    assert type(again) is kind
    assert (again.message, again.next_step) == ("It is 'é'.", "Do that.")
    assert again.attributes == {"limit": 3, "ids": ["a"]}
    assert (again.code, again.retryable, str(again)) == (kind.code, kind.retryable, str(error))


def test_error_survives_copying() -> None:
    error = errors.CorpusBusy("Busy.", corpus="docs")
    for again in (copy.copy(error), copy.deepcopy(error)):
        assert (str(again), again.attributes) == (str(error), {"corpus": "docs"})


def test_error_says_what_happened_and_what_to_do() -> None:
    error = errors.ReadFailed("File 'a' does not open.")
    assert str(error) == f"READ_FAILED: File 'a' does not open. {errors.ReadFailed.advice}"
    assert error.as_dict() == {
        "code": "READ_FAILED",
        "message": "File 'a' does not open.",
        "next": errors.ReadFailed.advice,
    }


def test_own_next_step_wins_over_the_advice() -> None:
    assert errors.ReadFailed("x", "Do that.").as_dict()["next"] == "Do that."


def test_reading_the_errors_loads_nothing_else() -> None:
    source = inspect.getsource(importlib.import_module("pincite.errors"))
    imported = re.findall(r"^(?:from|import) (\w+)", source, re.MULTILINE)
    assert set(imported) <= {"__future__", "typing"}
