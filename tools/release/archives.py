"""Packs the portable folder: an archive, a wheel for Python, a package for Debian and Ubuntu."""

import base64
import gzip
import hashlib
import os
import pathlib
import shutil
import subprocess
import time
import tomllib
import zipfile

import elf
import stage


def moment():
    return int(os.environ["SOURCE_DATE_EPOCH"])


def tar(folder, _version, _target):
    """NAME.tar.xz, which unpacks to a folder of that name."""
    path = folder.with_name(folder.name + ".tar.xz")
    with open(path, "wb") as file:
        packed = subprocess.Popen(
            ["tar", "--create", "--sort=name", f"--mtime=@{moment()}", "--owner=0", "--group=0", "--numeric-owner",
             "--directory", folder.parent, folder.name], stdout=subprocess.PIPE)
        subprocess.run(["xz", "--threads=2", "-6", "--stdout"], stdin=packed.stdout, stdout=file, check=True)
        if packed.wait() != 0:
            raise stage.Problem("tar failed.")
    return path


def wheel(folder, version, target):
    """The package of python/ with the library, the program and the built-in model inside. A wheel has no links."""
    root = target.root / "python"
    with open(root / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    if project["version"] != version:
        raise stage.Problem(f"python/pyproject.toml has version {project['version']}, CMakeLists.txt {version}.")
    tag = "py3-none-manylinux_" + "_".join(map(str, stage.NEWEST_GLIBC)) + f"_{target.architecture}"
    info = f"tokamak-{version}.dist-info"
    path = folder.parent / f"tokamak-{version}-{tag}.whl"
    files = {f"tokamak/{file.name}": file for file in (root / "tokamak").iterdir() if file.suffix in (".py", ".typed")}
    files["tokamak/bin/tokamak"] = folder / "bin" / "tokamak"
    files["tokamak/lib/libtokamak.so.0"] = folder / "lib" / "libtokamak.so.0"
    for part in ("lib/tokamak", "share/tokamak", "share/doc"):
        files |= {f"tokamak/{file.relative_to(folder)}": file for file in (folder / part).rglob("*")
                  if file.is_file() and file.name != stage.ADDON}
    texts = {
        f"{info}/METADATA": "".join([
            "Metadata-Version: 2.1\n", f"Name: {project['name']}\n", f"Version: {version}\n",
            f"Summary: {project['description']}\n", f"License: {project['license']['text']}\n",
            f"Requires-Python: {project['requires-python']}\n",
            *(f"Provides-Extra: {extra}\n" + "".join(f"Requires-Dist: {name}; extra == '{extra}'\n" for name in names)
              for extra, names in project["optional-dependencies"].items()),
            "Description-Content-Type: text/markdown\n\n",
            (target.root / "docs" / "python.md").read_text(encoding="utf-8")]),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: tokamak\nRoot-Is-Purelib: false\nTag: {tag}\n",
        f"{info}/entry_points.txt": "[console_scripts]\n" + "".join(
            f"{name} = {function}\n" for name, function in project["scripts"].items()),
    }
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        def add(name, data, mode):
            entry = zipfile.ZipInfo(name, time.gmtime(max(moment(), 315532800))[:6])  # a zip's first year is 1980
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}\n")

        for name, file in sorted(files.items()):
            add(name, file.read_bytes(), 0o755 if name == "tokamak/bin/tokamak" else 0o644)
        for name, text in texts.items():
            add(name, text.encode(), 0o644)
        record.append(f"{info}/RECORD,,\n")
        archive.writestr(zipfile.ZipInfo(f"{info}/RECORD", time.gmtime(max(moment(), 315532800))[:6]), "".join(record))
    return path


def deb(folder, version, target):
    """For Debian 12, Ubuntu 22.04 and what is newer: the folder below /usr."""
    tree = folder.parent / "deb"
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(folder, tree / "usr", symlinks=True)
    docs = tree / "usr" / "share" / "doc" / "tokamak"
    shutil.copy(target.root / "LICENSE", docs / "copyright")
    with gzip.GzipFile(docs / "changelog.gz", "wb", mtime=0) as file:
        file.write((target.root / "CHANGELOG.md").read_bytes())
    size = sum(file.lstat().st_size for file in tree.rglob("*") if file.is_file()) // 1024
    control = tree / "DEBIAN"
    control.mkdir()
    floor = ".".join(map(str, stage.NEWEST_GLIBC))
    (control / "control").write_text(
        f"""Package: tokamak
Version: {version}
Architecture: {target.debian}
Maintainer: The Tokamak project
Installed-Size: {size}
Depends: libc6 (>= {floor}), libgcc-s1
Recommends: ca-certificates, libvulkan1, mesa-vulkan-drivers | nvidia-driver
Suggests: libportaudio2
Section: science
Priority: optional
Description: inference engine for language models on the GPU at hand
 Runs language, embedding, vision and speech models through WebGPU, CUDA or on
 the processor: in a terminal, for programs in C and other languages, and as a
 server that speaks the forms of OpenAI, Anthropic and Ollama.
""", encoding="utf-8")
    (control / "triggers").write_text("activate-noawait ldconfig\n", encoding="utf-8")
    for path in [*tree.rglob("*"), tree]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)
            os.utime(path, (moment(), moment()))
    path = folder.parent / f"tokamak_{version}_{target.debian}.deb"
    elf.run("dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(tree), str(path))
    shutil.rmtree(tree)
    return path


def npm(folder, _version, target):
    """The package of node/ for this platform, and the one of JavaScript that depends on it. `node` is the first on PATH."""
    out = folder.parent / "npm"
    shutil.rmtree(out, ignore_errors=True)
    made = elf.run("node", str(target.root / "node" / "pack.mjs"), str(folder), str(out)).split("\n")
    packed = []
    for package in filter(None, made):
        name = elf.run("npm", "pack", "--loglevel=error", "--pack-destination", str(folder.parent), package)
        packed.append(folder.parent / name.strip().splitlines()[-1])
    shutil.rmtree(out)
    return packed


def write_sums(folder):
    """SHA256SUMS of the packages in a folder, as sha256sum --check reads it."""
    packages = sorted(path for path in pathlib.Path(folder).iterdir() if path.suffix in (".xz", ".whl", ".deb", ".tgz", ".zip", ".json"))
    (folder / "SHA256SUMS").write_text(
        "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in packages), encoding="utf-8")
