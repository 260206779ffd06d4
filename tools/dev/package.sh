# shellcheck shell=bash disable=SC2154
# Sourced by dev: packages for other machines, from a portable build (docs/install.md).

package_targets="linux-x86_64 linux-aarch64 windows-x86_64"
package_formats="folder tar wheel deb npm"
package_formats_windows="folder zip"

project_version() { sed -n 's/^project(tokamak VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt"; }

# sysroot_of PRESET: where the libraries of that preset's system are; nothing for this machine's.
sysroot_of() {
  [ "$1" != portable-arm64 ] || echo "$TOKAMAK_CACHE_DIR/sysroot-arm64"
}

# libraries_of PRESET: what tools/release/libraries.sh builds for it, as CMakePresets.json names it.
libraries_of() { echo "$root/build/libraries${1#portable}"; }

# setup_portable PRESET: the tools of the preset portable or portable-arm64, and the libraries that it links.
setup_portable() {
  local sysroot
  sysroot=$(sysroot_of "$1")
  setup run package ${sysroot:+arm64}
  logged "The libraries of the preset $1 could not be built" \
    "$root/tools/release/libraries.sh" "$(libraries_of "$1")" ${sysroot:+"$sysroot"}
}

# The tools of the preset windows, and the libraries that it links.
setup_windows() {
  setup run windows wine
  logged "The libraries for Windows could not be built" \
    "$root/tools/release/windows_libraries.sh" "$TOKAMAK_CACHE_DIR/libraries-windows"
}

# make_windows_packages [FORMAT...]
make_windows_packages() {
  setup_windows
  configure windows
  compile windows bin/tokamak.exe
  [ -n "$dry_run" ] || say "packing"
  ${dry_run:+echo dev: would run:} python3 -B "$root/tools/release/package.py" windows-x86_64 / \
    "$root/build/windows" "$TOKAMAK_CACHE_DIR/libraries-windows" "$root/build/packages" "$(project_version)" "$@"
}

# make_packages TARGET [FORMAT...]: into build/packages; prints their sizes.
make_packages() {
  local preset=portable target=$1 sysroot
  shift
  if [ "$target" = windows-x86_64 ]; then
    make_windows_packages "$@"
    return
  fi
  [ "$target" != linux-aarch64 ] || preset=portable-arm64
  sysroot=$(sysroot_of "$preset")
  setup_portable "$preset"
  configure "$preset"
  compile "$preset" bin/tokamak lib/libtokamak.so lib/node_stubs.so lib/tokamak/tokamak.node
  # The JavaScript of the npm package.
  logged "npm could not fetch the tools of web/" npm_packages
  logged "TypeScript could not compile the npm package" "$root/web/node_modules/.bin/tsc" -p "$root/node"
  [ -n "$dry_run" ] || say "packing"
  ${dry_run:+echo dev: would run:} env PATH="$root/web/node_modules/.bin:$PATH" python3 -B "$root/tools/release/package.py" "${target#linux-}" "${sysroot:-/}" \
    "$root/build/$preset" "$(libraries_of "$preset")" "$root/build/packages" "$(project_version)" "$@"
}

# run_package TARGET [FORMAT...]
run_package() {
  local target=${1:-} format formats=$package_formats
  [ $# -gt 0 ] || usage_error "./dev package takes a target, one of: $package_targets."
  shift
  grep -xF -- "$target" >/dev/null <<<"${package_targets// /$'\n'}" ||
    usage_error "\"$target\" is no target of ./dev package; there are: $package_targets."
  [ "$target" != windows-x86_64 ] || formats=$package_formats_windows
  for format in "$@"; do
    grep -xF -- "$format" >/dev/null <<<"${formats// /$'\n'}" ||
      usage_error "\"$format\" is no format of ./dev package $target; there are: $formats."
  done
  make_packages "$target" "$@"
}

# The CHANGELOG's section of a version, or that of what is not released yet.
release_notes() {
  awk -v version="$1" '/^## /{ shown = index($0, "## " version) == 1 || (!found && index($0, "## Unreleased") == 1); found = found || shown }
    shown' "$root/CHANGELOG.md"
}

# Everything that a release has: the packages for all targets, their sums and what is new.
run_release() {
  local target
  for target in $package_targets; do make_packages "$target"; done
  [ -z "$dry_run" ] || return 0
  release_notes "$(project_version)" >"$root/build/packages/NOTES.md"
  say "build/packages has the release $(project_version); NOTES.md is its section of the CHANGELOG"
}

# Runs the packages on systems with nothing but the C library, and beside drivers.
package() {
  make_packages linux-x86_64 && env TOKAMAK_PACKAGES="$root/build/packages" TOKAMAK_SOURCE_DIR="$root" \
    TOKAMAK_PROGRAM="$root/build/portable/bin/tokamak" python3 -B "$root/tests/portable/portable_test.py"
}
check_package() { one package package; }
