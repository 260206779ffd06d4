# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by dev: what must be there before anything is built, and nothing more than that.

packages_run="g++ cmake python3 ninja-build pkg-config libfmt-dev
  libpcre2-dev libutf8proc-dev libcurl4-openssl-dev libssl-dev libedit-dev libboost-dev portaudio19-dev
  libhwy-dev libspng-dev libsqlite3-dev libturbojpeg0-dev libwebp-dev libsndfile1-dev libmpg123-dev libsoxr-dev libyaml-dev zlib1g-dev libvulkan1"
packages_test="libgtest-dev ccache openssl python3-jsonschema"
packages_check="clang-22 clang-format-22 clang-tidy-22 libclang-rt-22-dev lld-22
  libc++-22-dev-wasm32 libc++abi-22-dev-wasm32 libclang-rt-22-dev-wasm32 wasi-libc chromium firefox-esr curl python3-pytest python3-numpy python3-yaml mypy
  haproxy nginx-light ruby"
packages_format="clang-format-22"
packages_package="ccache dpkg-dev openssl patchelf libstdc++-12-pic python3-venv util-linux xz-utils"
packages_arm64="g++-aarch64-linux-gnu qemu-user-static"
packages_windows="g++-mingw-w64-x86-64-posix"
packages_macos="ccache clang-22 dpkg-dev lld-22 llvm-22"
packages_wine="ccache dpkg-dev nasm wine wine64 xvfb"

# The packages among "$@" that are not installed.
missing_packages() {
  local installed package
  # A package that dpkg never heard of is only a line on stderr.
  installed=$(dpkg-query -W -f '${binary:Package} ${db:Status-Status}\n' "$@" 2>/dev/null |
    sed -n 's/^\([^ :]*\).* installed$/\1/p') || true
  for package in "$@"; do
    grep -qxF -- "$package" <<<"$installed" || echo "$package"
  done
}

# Whether the pinned Dawn, as cmake/Dawn.cmake names it, is in the cache, or another one is installed.
dawn_is_there() {
  local folder
  compgen -G "/usr/lib/*/cmake/Dawn/DawnConfig.cmake" >/dev/null && return
  compgen -G "/usr/local/lib*/cmake/Dawn/DawnConfig.cmake" >/dev/null && return
  # shellcheck disable=SC2013
  for folder in $(sed -n 's/^set(_dawn_[a-z]*_package \([^ ]*\) \([^ ]*\).*/\1-\2/p' \
    "$root/cmake/Dawn.cmake"); do
    [ -d "$TOKAMAK_CACHE_DIR/npm/$folder" ] || return 1
  done
}

install_packages() {
  local -a missing as_root=()
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" != 0 ]; then
    as_root=(sudo)
    [ -n "$dry_run" ] || command -v sudo >/dev/null ||
      fail "These packages are missing and there is no sudo to install them: ${missing[*]}"
  fi
  say "installing ${missing[*]}"
  logged "apt-get could not read the package lists; is the network there?" \
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q update
  logged "apt-get could not install ${missing[*]}" \
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -q -y --no-install-recommends install "${missing[@]}"
}

# lavapipe, the software Vulkan driver, for machines and tests without a graphics card.
setup_mesa() {
  local release=
  [ ! -f "$TOKAMAK_CACHE_DIR/mesa/lvp_icd.json" ] || return 0
  [ ! -r /etc/os-release ] || release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  if [ "$release" != bookworm ]; then
    compgen -G "/usr/share/vulkan/icd.d/*.json" >/dev/null ||
      compgen -G "/etc/vulkan/icd.d/*.json" >/dev/null || install_packages mesa-vulkan-drivers
    return 0
  fi
  say "unpacking Mesa's software Vulkan driver from bookworm-backports into $TOKAMAK_CACHE_DIR/mesa"
  logged "Mesa's software Vulkan driver could not be fetched; is the network there?" \
    sh "$root/tools/dev/fetch_mesa.sh" "$TOKAMAK_CACHE_DIR"
}

# The libraries of the arm64 preset; this machine's packages stay as they are.
setup_sysroot() {
  local folder=$TOKAMAK_CACHE_DIR/sysroot-arm64
  local -a packages
  # shellcheck disable=SC2086
  mapfile -t packages < <(printf '%s\n' libc6-dev $packages_run $packages_test | grep -e '-dev$')
  packages+=(libstdc++-12-dev libstdc++-12-pic)
  if [ "$(cat "$folder/packages" 2>/dev/null)" = "${packages[*]}" ] && [ -f "$folder/versions" ]; then return 0; fi
  say "unpacking Debian's libraries for arm64 into $folder"
  logged "The libraries for arm64 could not be fetched; is the network there?" \
    sh "$root/tools/dev/fetch_sysroot.sh" "$TOKAMAK_CACHE_DIR" arm64 "${packages[@]}"
}

# setup LEVEL...: run, test, check, format, package, arm64, windows, wine or macos.
setup() {
  local level list
  local -a packages=()
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    say "this is not a Debian system: its packages are yours to install (see CONTRIBUTING.md)"
    return 0
  fi
  for level in "$@"; do
    list=packages_$level
    # shellcheck disable=SC2206
    packages+=(${!list})
  done
  case " $* " in *" run "*)
    if ! dawn_is_there && ! command -v npm >/dev/null; then packages+=(npm ca-certificates); fi
    ;;
  esac
  case " $* " in *" check "* | *" macos "*)
    # The tools of web/ come through npm, and headers of macOS.
    command -v npm >/dev/null || packages+=(npm ca-certificates)
    ;;
  esac
  install_packages "${packages[@]}"
  case " $* " in *" run "*) setup_mesa ;; esac
  case " $* " in *" arm64 "*) setup_sysroot ;; esac
}
