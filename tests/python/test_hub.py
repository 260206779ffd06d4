"""Models of a hub on this machine."""
import sys

import pytest
import tokamak

from conftest import DATA, SOURCE

sys.path.insert(0, str(SOURCE / "tests" / "hub"))
from hub_server import Hub, Repo  # noqa: E402

NAME = "org/name"


@pytest.fixture
def hub(tmp_path, monkeypatch):
    source = DATA / "models" / "llama_untied"
    files = {path.name: path.read_bytes() for path in source.iterdir() if not path.name.startswith("golden")}
    server = Hub(org__name=Repo(files, large=["model.safetensors"]))
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_TOKEN", "HF_HUB_OFFLINE", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HF_HOME": str(tmp_path), "HOME": str(tmp_path), "HF_ENDPOINT": server.endpoint}.items():
        monkeypatch.setenv(name, value)
    yield server
    server.close()


def test_pulls_with_progress(hub):
    assert tokamak.list_models() == []
    seen = []
    path = tokamak.pull(NAME, on_progress=seen.append)
    assert seen[0].phase == "look up" and all(progress.done <= progress.total for progress in seen)
    [stored] = tokamak.list_models()
    assert (stored["name"], stored["folder"]) == (NAME, path)


def test_opening_pulls_what_is_missing(hub):
    with pytest.raises(tokamak.Error, match="tokamak pull org/name"):
        tokamak.open(NAME, backend="cpu", pull_missing=False)
    seen = []
    with tokamak.open(NAME, backend="cpu", context=64, on_progress=seen.append) as model:
        assert {"look up", "files"} <= {progress.phase for progress in seen}
        assert model.openai.models.list().data[0].id == NAME
    again = []
    with tokamak.open(NAME, backend="cpu", context=64, on_progress=again.append):
        assert again[0].phase == "files", "it is there"


def test_a_pull_is_cancelled(hub):
    with pytest.raises(tokamak.Error) as raised:
        tokamak.pull(NAME, on_progress=lambda progress: False)
    assert raised.value.code == tokamak.ErrorCode.CANCELLED
    with pytest.raises(ZeroDivisionError):
        tokamak.pull(NAME, on_progress=lambda progress: 1 / 0)
