# shellcheck shell=bash disable=SC2154
# Sourced by dev: packages for other machines, from a portable build (docs/install.md).

package_targets="linux-x86_64 linux-aarch64 windows-x86_64 macos-arm64"
package_formats="folder tar wheel deb npm"
package_formats_windows="folder zip"
package_formats_macos="folder tar"

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
    "$root/tools/release/foreign_libraries.sh" windows "$TOKAMAK_CACHE_DIR/libraries-windows"
}

# The tools of the preset macos, and what it compiles and links with.
setup_macos() {
  setup run macos
  logged "The headers and the C++ library for macOS could not be made" \
    "$root/tools/release/macos_sysroot.sh" "$TOKAMAK_CACHE_DIR/sysroot-macos"
  logged "The libraries for macOS could not be built" \
    "$root/tools/release/foreign_libraries.sh" macos "$TOKAMAK_CACHE_DIR/libraries-macos"
}

# make_foreign_packages TARGET PROGRAM [FORMAT...]: for a system that is not Linux.
make_foreign_packages() {
  local target=$1 program=$2 system=${1%%-*} sysroot=/
  shift 2
  "setup_$system"
  configure "$system"
  compile "$system" "$program"
  [ "$system" != macos ] || sysroot=$TOKAMAK_CACHE_DIR/sysroot-macos
  [ -n "$dry_run" ] || say "packing"
  ${dry_run:+echo dev: would run:} python3 -B "$root/tools/release/package.py" "$target" "$sysroot" \
    "$root/build/$system" "$TOKAMAK_CACHE_DIR/libraries-$system" "$root/build/packages" "$(project_version)" "$@"
}

# make_packages TARGET [FORMAT...]: into build/packages; prints their sizes.
make_packages() {
  local preset=portable target=$1 sysroot
  shift
  case $target in
    windows-*)
      make_foreign_packages "$target" bin/tokamak.exe "$@"
      return
      ;;
    macos-*)
      make_foreign_packages "$target" bin/tokamak "$@"
      return
      ;;
  esac
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
  case $target in
    windows-*) formats=$package_formats_windows ;;
    macos-*) formats=$package_formats_macos ;;
  esac
  for format in "$@"; do
    grep -xF -- "$format" >/dev/null <<<"${formats// /$'\n'}" ||
      usage_error "\"$format\" is no format of ./dev package $target; there are: $formats."
  done
  make_packages "$target" "$@"
}

# Everything that a release has: the packages for all targets, the sources, recipes, bills of materials, sums and what is new.
run_release() {
  local target
  for target in $package_targets; do make_packages "$target"; done
  ${dry_run:+echo dev: would run:} python3 -B "$root/tools/release/release.py" "$root/build/packages" "$(project_version)"
  [ -n "$dry_run" ] || say "build/packages has the release $(project_version); NOTES.md is its section of the CHANGELOG"
}

# Runs the packages on systems with nothing but the C library, and beside drivers.
package() {
  make_packages linux-x86_64 && env TOKAMAK_PACKAGES="$root/build/packages" TOKAMAK_SOURCE_DIR="$root" \
    TOKAMAK_PROGRAM="$root/build/portable/bin/tokamak" python3 -B "$root/tests/portable/portable_test.py"
}
check_package() { one package package; }
