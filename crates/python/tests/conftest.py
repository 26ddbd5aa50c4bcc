"""The logs that the tests read: PyDarshan's examples, the repository's own, and damaged copies of it."""

import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
WAVE = ROOT / "docs" / "example" / "wave.darshan"


def examples():
    """The logs inside the installed PyDarshan package."""
    import darshan

    folder = pathlib.Path(darshan.__file__).parent
    return sorted(str(path) for path in folder.rglob("*.darshan"))


def pytest_generate_tests(metafunc):
    if "example" in metafunc.fixturenames:
        logs = examples()
        assert len(logs) >= 15, "PyDarshan's example logs are gone"
        metafunc.parametrize("example", logs, ids=lambda path: pathlib.Path(path).name[:40])


@pytest.fixture
def wave():
    return str(WAVE)
