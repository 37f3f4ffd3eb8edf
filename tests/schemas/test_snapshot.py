"""Every contract as text, so that a change of one is a visible diff.

After a change that is meant: ``PINCITE_TEST_UPDATE_SNAPSHOTS=1 pytest tests/schemas``; look at the
diff, and raise the contract's version when a reader of the old table would be misled.
"""

import importlib
import inspect
import os
import pkgutil
from pathlib import Path

import pincite.schemas
from pincite.schemas.contract import Contract

SNAPSHOT = Path(__file__).with_name("contracts.txt")
UPDATE = "PINCITE_TEST_UPDATE_SNAPSHOTS"
DIM = 384


def contracts() -> dict[str, Contract]:
    """Every contract by name, those of a dimension for ``DIM``."""
    found: list[Contract] = []
    for info in pkgutil.iter_modules(pincite.schemas.__path__):
        module = importlib.import_module(f"pincite.schemas.{info.name}")
        for value in vars(module).values():
            if isinstance(value, Contract):
                found.append(value)
            elif inspect.isfunction(value) and value.__annotations__.get("return") is Contract:
                found.append(value(DIM))
    return {contract.name: contract for contract in found}


def rendered() -> str:
    return "\n\n".join(contracts()[name].render() for name in sorted(contracts())) + "\n"


def test_contracts_are_as_recorded() -> None:
    if os.environ.get(UPDATE):
        SNAPSHOT.write_text(rendered(), encoding="utf-8")
    assert rendered() == SNAPSHOT.read_text(encoding="utf-8"), f"if meant, run with {UPDATE}=1"


def test_every_module_has_a_contract_of_its_name() -> None:
    modules = {info.name for info in pkgutil.iter_modules(pincite.schemas.__path__)}
    assert modules - {"contract", "owner"} == set(contracts())


def test_keys_are_columns_and_columns_are_told_once() -> None:
    for contract in contracts().values():
        assert set(contract.key) <= set(contract.names), contract.name
        assert len(set(contract.names)) == len(contract.names), contract.name


def test_every_field_says_what_it_means() -> None:
    silent = [
        f"{contract.name}.{field.name}"
        for contract in contracts().values()
        for field in contract.fields
        if not field.meaning.strip()
    ]
    assert silent == []
