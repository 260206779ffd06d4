"""The models that the tests open, on the processor."""
import pathlib

import pytest
import tokamak

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
STORYTELLER = SOURCE / "models" / "storyteller"
DATA = SOURCE / "tests" / "data"


@pytest.fixture(scope="session")
def story():
    with tokamak.open(STORYTELLER, backend="cpu", context=512, sequences=4) as model:
        yield model


@pytest.fixture(scope="session")
def vectors():
    with tokamak.open(STORYTELLER, backend="cpu", context=128, pooling="mean") as model:
        yield model


@pytest.fixture(scope="session")
def tiny():
    with tokamak.open(DATA / "models" / "qwen3_qknorm", backend="cpu", context=64) as model:
        yield model


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
