#!/bin/sh
# fetch_mesa.sh CACHE_DIR: unpacks lavapipe, Mesa's software Vulkan driver, from bookworm-backports into
# CACHE_DIR/mesa. Debian 12's own is too old for Dawn. The system's packages, package lists and apt
# settings stay as they are: apt only resolves and downloads here, with lists and folders of its own.
set -eu
cache=$1
work=$cache/mesa.partial
rm -rf "$work"
mkdir -p "$work/lists/partial" "$work/archives/partial" "$work/unpacked" "$work/lib"

for suite in "debian bookworm" "debian bookworm-backports" "debian-security bookworm-security"; do
  # shellcheck disable=SC2086
  set -- $suite
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
    "http://deb.debian.org/$1 $2 main"
done >"$work/sources.list"

private_apt() {
  apt-get -q -y -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=- \
    -o Dir::State::lists="$work/lists" -o Dir::Cache="$work" \
    -o Dir::Cache::archives="$work/archives" -o Debug::NoLocking=1 -o APT::Sandbox::User=root "$@"
}
private_apt update
private_apt install --download-only --no-install-recommends -t bookworm-backports \
  mesa-vulkan-drivers

for package in "$work"/archives/*.deb; do
  dpkg-deb -x "$package" "$work/unpacked"
done
driver=$(find "$work/unpacked" -name libvulkan_lvp.so)
folder=$(dirname "$driver")
# The libraries that the driver needs and the packages bring; the rest is the system's.
LD_LIBRARY_PATH=$folder ldd "$driver" | awk -v folder="$folder/" 'index($3, folder) == 1 {print $3}' |
  while read -r library; do cp -L "$library" "$work/lib/"; done
cp "$driver" "$work/libvulkan_lvp.so"
# The path is the one after the last step.
sed "s|\"library_path\": .*|\"library_path\": \"$cache/mesa/libvulkan_lvp.so\"|" \
  "$work"/unpacked/usr/share/vulkan/icd.d/lvp_icd*.json >"$work/lvp_icd.json"
rm -rf "$work/unpacked" "$work/lists" "$work/archives" "$work"/*.bin "$work/sources.list" "$cache/mesa"
mv "$work" "$cache/mesa"
