#!/usr/bin/env python3
"""Loads checkpoints of random weights from the page cache: how long it takes, and how much memory
the process has at most beside the mapped file and what the device holds.

examples:
  bench/load_memory.py build/release                              2 GB each, cpu and webgpu
  bench/load_memory.py build/release --backend webgpu --turns 5   on the graphics card only
  bench/load_memory.py build/release --checkpoint bf16 --layers 2  in seconds, to try it

tools/random_model writes the checkpoints, one after the other, into a folder that is removed at the
end; they need 2.5 GB of disk. Each load is a process of its own that runs one token. Times are
medians. The peak is the largest sum of RssAnon and RssShmem in /proc/PID/status, looked at every
millisecond, less the bytes in buffers of the device where the device is the processor (cpu, and
webgpu without a graphics card); what a driver maps of its device counts nowhere. "itself" is the
same of the built-in model, 4 MB: the program, its libraries and the driver. Prints one Markdown row
per checkpoint and backend.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHECKPOINTS = {"bf16": ["--shape", "llama-3.2-1b"],
               "Q4_0": ["--shape", "llama-3.2-3b", "--packing", "q4_0"],
               "MLX 4-bit": ["--shape", "llama-3.2-3b", "--packing", "mlx4"]}
PERIOD = 0.001  # seconds


def fail(message):
    sys.exit(f"error: {message}")


def resident(pid):
    """Bytes of the process that no file backs; 0 when it has ended."""
    try:
        text = pathlib.Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return sum(int(kb) for kb in re.findall(r"^Rss(?:Anon|Shmem):\s+(\d+) kB", text, re.MULTILINE)) * 1024


def load(program, model, backend):
    """-> seconds, peak bytes, bytes in the device's buffers, whether the device is the processor."""
    command = [str(program), "logits", *([str(model)] if model else []), "--tokens", "1", "--json",
               "--backend", backend, "--context", "512", "--chunk", "16"]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=out, stderr=errors)
        peak = 0
        while process.poll() is None:
            peak = max(peak, resident(process.pid))
            time.sleep(PERIOD)
        errors.seek(0)
        if process.returncode != 0:
            fail(f"{' '.join(command)}: {errors.read().decode().strip()}")
        out.seek(0)
        result = json.load(out)
    return result["load_seconds"], peak, result["device_bytes"], result["software"]


def measure(program, model, backend, turns):
    """-> the median of the seconds, and the largest peak above the device's buffers."""
    loads = [load(program, model, backend) for _ in range(turns)]
    held = [peak - (device if software else 0) for _, peak, device, software in loads]
    return statistics.median(seconds for seconds, *_ in loads), max(held)


def read_all(files):
    """Into the page cache."""
    for path in files:
        with path.open("rb", buffering=0) as file:
            while file.read(1 << 24):
                pass


def write_checkpoint(folder, arguments, layers):
    more = ["--layers", str(layers)] if layers else []
    tool = [sys.executable, "-B", ROOT / "tools" / "random_model", *arguments, *more, "--out", folder]
    if subprocess.run(tool, stdout=subprocess.DEVNULL).returncode != 0:
        fail("tools/random_model failed")
    gguf = folder / "model.gguf"
    return gguf if gguf.exists() else folder


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="folder that CMake built")
    parser.add_argument("--backend", choices=["cpu", "webgpu", "cuda"], action="append",
                        help="default: cpu and webgpu")
    parser.add_argument("--checkpoint", choices=CHECKPOINTS, action="append")
    parser.add_argument("--turns", type=int, default=3, help="loads of each checkpoint")
    parser.add_argument("--layers", type=int, help="instead of the models' own")
    parser.add_argument("--folder", help="where the checkpoints go for a while")
    options = parser.parse_args()
    program = options.build / "bin" / "tokamak"
    if not program.exists():
        fail(f"{program} is missing; build it first")
    backends = options.backend or ["cpu", "webgpu"]
    itself = {backend: measure(program, None, backend, options.turns)[1] for backend in backends}
    print("| checkpoint | GB | backend | load | GB/s | peak beside file and device | itself |\n"
          "| --- | --- | --- | --- | --- | --- | --- |")
    for name in options.checkpoint or CHECKPOINTS:
        arguments = CHECKPOINTS[name]
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            model = write_checkpoint(pathlib.Path(folder), arguments, options.layers)
            files = [path for path in pathlib.Path(folder).iterdir() if path.is_file()]
            read_all(files)
            size = sum(path.stat().st_size for path in files)
            for backend in backends:
                seconds, held = measure(program, model, backend, options.turns)
                print(f"| {arguments[1]} {name} | {size / 1e9:.2f} | {backend} | {seconds:.2f} s | "
                      f"{size / 1e9 / seconds:.1f} | {held / 1e6:.0f} MB | "
                      f"{itself[backend] / 1e6:.0f} MB |", flush=True)


if __name__ == "__main__":
    main()
