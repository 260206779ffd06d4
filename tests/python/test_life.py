"""Opening and closing: who ends what, forks, Ctrl-C, callbacks."""
import gc
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import pytest
import tokamak

from conftest import DATA, STORYTELLER

TINY = DATA / "models" / "qwen3_qknorm"


def opened(**options):
    return tokamak.open(TINY, backend="cpu", context=64, **options)


def run_python(code, **options):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60, **options)


def test_describes_the_model(story):
    assert story.details.context == 512 and story.details.sequences == 4
    assert story.details.vocabulary > 1000 and story.details.dimensions == 0
    assert "storyteller" in repr(story)
    assert tokamak.version().count(".") == 2
    assert {"backend", "number", "name"} <= set(tokamak.list_devices()[-1])


def test_is_closed_by_its_block():
    with opened() as model:
        run = model.generate([3, 9], max_tokens=60, end_ids=[])
    assert run.result.finish in ("cancelled", "length", "context"), "a stream may be read later"
    assert "closed" in repr(model)
    for use in (lambda: model.generate([3]), lambda: model.logits([3]), lambda: model.tokenize("x"),
                lambda: model.openai.models.list()):
        with pytest.raises(tokamak.Error, match="The model is closed."):
            use()
    model.close()


def test_is_closed_by_the_collector():
    model = opened()
    handle = weakref.ref(model._handle)
    run = model.generate([3, 9], max_tokens=8)
    del model
    assert handle() is not None, "its stream needs it"
    assert len(list(run.result.ids)) > 0
    del run
    gc.collect()
    assert handle() is None


def test_is_closed_by_another_thread_while_it_works():
    model = tokamak.open(STORYTELLER, backend="cpu", context=512)
    ids = model.tokenize("Once upon a time " * 60)
    problems = []

    def work():
        try:
            while True:
                model.logits(ids, last=False)
        except tokamak.Error as problem:
            problems.append(problem)

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.1)
    model.close()
    thread.join(20)
    assert not thread.is_alive()
    assert problems[0].code in (tokamak.ErrorCode.CANCELLED, tokamak.ErrorCode.USAGE)


def test_closing_waits_for_calls_under_way():
    model = opened()
    began, ended = threading.Event(), threading.Event()

    def work():
        with model._handle.use():
            began.set()
            time.sleep(0.2)
            ended.set()

    thread = threading.Thread(target=work)
    thread.start()
    began.wait()
    model.close()
    assert ended.is_set()
    thread.join()


def test_tells_its_progress_which_may_cancel():
    seen = []
    with opened(on_progress=seen.append):
        assert [progress.phase for progress in seen][0] == "files"
        assert {progress.phase for progress in seen} >= {"files", "kernels"}
        assert " of " in str(max(seen, key=lambda progress: progress.total))
    with pytest.raises(tokamak.Error) as raised:
        opened(on_progress=lambda progress: False)
    assert raised.value.code == tokamak.ErrorCode.CANCELLED


def test_what_a_callback_raises_comes_out_of_the_call():
    def fail(progress):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        opened(on_progress=fail)


def test_names_the_model_that_is_not_there():
    with pytest.raises(tokamak.Error, match="no/such/folder/at/all") as raised:
        tokamak.open("no/such/folder/at/all")
    assert raised.value.code == tokamak.ErrorCode.INVALID_INPUT
    with pytest.raises(tokamak.Error, match="org/absent"):
        tokamak.open("org/absent")
    with pytest.raises(tokamak.Error, match="org/absent"):
        tokamak.open("org/absent", pull_missing=False)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_a_fork_raises_and_ends():
    done = run_python(f"""
        import gc, os, tokamak
        model = tokamak.open({str(TINY)!r}, backend="cpu", context=64)
        run = model.generate([3, 9], max_tokens=4)
        child = os.fork()
        if child == 0:
            for use in (lambda: model.logits([3]), lambda: next(run), lambda: run.cancel(), lambda: model.close()):
                try:
                    use()
                    print("no error")
                except tokamak.Error as problem:
                    assert "is a fork" in str(problem), problem
            del model, run
            gc.collect()
            with tokamak.open({str(TINY)!r}, backend="cpu", context=64) as own:
                print(len(own.logits([3])), flush=True)
            raise SystemExit(0)
        assert os.waitpid(child, 0)[1] == 0
        print(len(run.result.ids))
        """)
    assert done.stdout.split() == ["512", "4"], done.stdout + done.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX has them")
@pytest.mark.parametrize("work", ["list(model.generate('Once', max_tokens=2000, end_ids=[]))",
                                  "model.generate('Once', max_tokens=2000, end_ids=[]).text",
                                  "model.logits(model.tokenize('Once upon a time ' * 400), last=False)",
                                  "asyncio.run(everything(model.generate('Once', max_tokens=2000, end_ids=[])))"])
def test_ctrl_c_cancels_within_a_step(work):
    process = subprocess.Popen([sys.executable, "-u", "-c", textwrap.dedent(f"""
        import asyncio, time, tokamak
        async def everything(run):
            return [piece async for piece in run]
        model = tokamak.open({str(STORYTELLER)!r}, backend="cpu", context=2048)
        print("opened")
        try:
            {work}
            print("went on")
        except KeyboardInterrupt:
            print("stopped", model.generate("Once", max_tokens=2, temperature=0).text)
        """)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "opened\n"
    time.sleep(0.2)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=30)
    assert out.startswith("stopped"), out + errors
    assert time.monotonic() - began < 5


def test_ends_with_the_process_that_left_it_open():
    done = run_python(f"""
        import asyncio, atexit
        atexit.register(lambda: print(run.result.finish))  # runs after what tokamak registers
        import tokamak
        model = tokamak.open({str(STORYTELLER)!r}, backend="cpu", context=2048, on_notice=print)
        run = model.generate("Once", max_tokens=2000, end_ids=[])
        asyncio.run(run.__anext__())
        model.cycle = [model]
        """)
    assert (done.returncode, done.stdout.split()[-1], done.stderr) == (0, "cancelled", "")


def test_a_model_that_its_own_thread_collects_is_freed_by_another():
    done = run_python(f"""
        import gc, time, weakref
        import tokamak
        from tokamak import _declarations as c, _handles, _library
        gc.disable()
        model = tokamak.open({str(TINY)!r}, backend="cpu", context=64)
        handle = weakref.ref(model._handle)
        run = model.generate([3, 9], max_tokens=40, end_ids=[])
        collect = c.Ready(_handles.called_back(lambda _: gc.collect()))
        model.cycle, stream = [model, run], run._handle
        del run, model
        _library.library().stream_on_ready(stream, collect, None)
        for _ in range(500):
            if handle() is None:
                break
            time.sleep(0.01)
        print(handle(), flush=True)
        with tokamak.open({str(TINY)!r}, backend="cpu", context=64) as model:
            print(len(model.logits([3])))
        """)
    assert done.stdout.split() == ["None", "512"], done.stdout + done.stderr


def test_the_library_that_is_missing_is_looked_for_everywhere(tmp_path):
    absent = str(tmp_path / "libtokamak.so")
    done = run_python("import tokamak; tokamak.version()", env={**os.environ, "TOKAMAK_LIBRARY": absent})
    assert f"{absent} (no such file)" in done.stderr and "TOKAMAK_LIBRARY" in done.stderr
    package = tmp_path / "site" / "tokamak"
    package.mkdir(parents=True)
    for path in pathlib.Path(tokamak.__file__).parent.glob("*.py"):
        (package / path.name).write_bytes(path.read_bytes())
    alone = {name: value for name, value in os.environ.items() if name not in ("TOKAMAK_LIBRARY", "TOKAMAK_PROGRAM")}
    alone["PYTHONPATH"] = str(tmp_path / "site")
    done = run_python("import tokamak; tokamak.version()", env=alone, cwd=tmp_path)
    assert str(package / "lib" / "libtokamak.so") in done.stderr and "libtokamak.so.0 (" in done.stderr, done.stderr
    done = run_python("import tokamak; tokamak.serve()", env={**alone, "PATH": str(tmp_path)}, cwd=tmp_path)
    assert "The program tokamak was not found" in done.stderr and "PATH" in done.stderr, done.stderr


def test_the_command_of_the_package_is_the_program():
    done = subprocess.run([sys.executable, "-m", "tokamak", "--version"], capture_output=True, text=True, timeout=60)
    assert tokamak.version() in done.stdout, done.stderr
