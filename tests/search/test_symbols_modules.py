from __future__ import annotations

import pytest

from repairlab.search.symbols_modules import GoPackages, PythonModules, module_names

PATHS = [
    "setup.py",
    "src/pkg/__init__.py",
    "src/pkg/core.py",
    "src/pkg/sub/__init__.py",
    "src/pkg/sub/deep.py",
    "space/free.py",
    "tests/helper.py",
    "tools/helper.py",
]
NAMES = ["setup", "pkg", "pkg.core", "pkg.sub", "pkg.sub.deep", "free", "helper", "helper"]


def test_a_python_module_begins_at_its_topmost_package():
    assert module_names(PATHS, "python") == NAMES


def test_a_go_file_belongs_to_its_folder():
    assert module_names(["a.go", "x/y/b.go"], "go") == ["", "x/y"]


@pytest.mark.parametrize(
    ("module", "files"),
    [
        ("pkg", (1,)),
        ("pkg.sub.deep", (4,)),
        ("src.pkg.sub.deep", (4,)),
        ("space.free", (5,)),
        ("free", (5,)),
        ("helper", (6, 7)),
        ("tests.helper", (6,)),
        ("numpy", ()),
        ("", ()),
    ],
)
def test_a_module_is_found_by_its_name_and_by_its_path(module, files):
    assert PythonModules(PATHS, NAMES).files(module) == files


@pytest.mark.parametrize(
    ("file", "module", "level", "absolute"),
    [
        (2, "os.path", 0, "os.path"),
        (2, "core", 1, "pkg.core"),
        (2, "", 1, "pkg"),
        (1, "core", 1, "pkg.core"),
        (1, "", 1, "pkg"),
        (4, "", 1, "pkg.sub"),
        (4, "core", 2, "pkg.core"),
        (3, "core", 2, "pkg.core"),
        (4, "other", 3, "other"),
        (4, "", 3, ""),
        (4, "x", 4, ""),
        (2, "x", 3, ""),
    ],
)
def test_leading_dots_climb_from_the_package_of_the_file(file, module, level, absolute):
    assert PythonModules(PATHS, NAMES).absolute(file, module, level) == absolute


def test_the_path_of_a_go_module_is_read_off_its_imports():
    folders = ["", "store", "store/journal", "go/ast"]
    imports = ["example.org/mill/store", "example.org/mill/store/journal", "go/ast", "fmt", "other.org/store"]
    packages = GoPackages(folders, imports)

    assert packages.prefix == "example.org/mill"
    assert packages.folder("example.org/mill/store/journal") == "store/journal"
    assert packages.folder("example.org/mill") == ""
    assert packages.folder("example.org/mill/none") is None
    assert packages.folder("example.org/millstone") is None
    assert packages.folder("go/ast") is None  # the standard library's, whatever the folders are called
    assert packages.folder("other.org/store") is None


def test_a_go_repository_that_imports_nothing_of_its_own_has_no_prefix():
    packages = GoPackages([""], ["fmt", "os"])

    assert packages.prefix == ""
    assert packages.folder("fmt") is None
