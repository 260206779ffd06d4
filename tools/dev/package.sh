# shellcheck shell=bash disable=SC2154
# Sourced by dev: packages for other machines, from a portable build (docs/install.md).

package_targets="linux-x86_64"
package_formats="folder tar wheel deb"

project_version() { sed -n 's/^project(tokamak VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt"; }

# make_packages [FORMAT...]: into build/packages; prints their sizes.
make_packages() {
  setup run package
  logged "The libraries of the portable build could not be built" "$root/tools/release/libraries.sh" "$root/build/libraries"
  configure portable
  compile portable bin/tokamak lib/libtokamak.so lib/node_stubs.so
  if [ -n "$dry_run" ]; then
    say "would run: tools/release/package.py build/portable build/libraries build/packages $(project_version) $*"
    return 0
  fi
  say "packing"
  python3 -B "$root/tools/release/package.py" "$root/build/portable" "$root/build/libraries" "$root/build/packages" \
    "$(project_version)" "$@"
}

# run_package TARGET [FORMAT...]
run_package() {
  local target=${1:-} format
  [ $# -gt 0 ] || usage_error "./dev package takes a target, one of: $package_targets."
  shift
  grep -xF -- "$target" >/dev/null <<<"${package_targets// /$'\n'}" ||
    usage_error "\"$target\" is no target of ./dev package; there are: $package_targets."
  for format in "$@"; do
    grep -xF -- "$format" >/dev/null <<<"${package_formats// /$'\n'}" ||
      usage_error "\"$format\" is no format of ./dev package; there are: $package_formats."
  done
  make_packages "$@"
}

# Runs the packages on systems with nothing but the C library, and beside drivers.
package() {
  make_packages && env TOKAMAK_PACKAGES="$root/build/packages" TOKAMAK_SOURCE_DIR="$root" \
    TOKAMAK_PROGRAM="$root/build/portable/bin/tokamak" python3 -B "$root/tests/portable/portable_test.py"
}
check_package() { one package package; }
