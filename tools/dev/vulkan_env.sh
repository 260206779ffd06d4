#!/bin/sh
# vulkan_env.sh [CACHE_DIR [swiftshader]]: the environment in which Vulkan finds the software driver
# that ./dev setup unpacked, as KEY=VALUE lines; nothing when there is none or the caller has chosen
# drivers already. With swiftshader it is Chromium's driver instead, where there is no graphics device
# but a Chromium. Used by ./dev for what it starts, and by CMake for the tests.
cache=${1:-${TOKAMAK_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/tokamak}}
swiftshader=/usr/lib/chromium/vk_swiftshader_icd.json
[ -f "$cache/mesa/lvp_icd.json" ] || exit 0
[ -z "${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-}${VK_ADD_DRIVER_FILES:-}" ] || exit 0

hardware=
for device in /dev/dri/renderD* /dev/nvidia[0-9]* /dev/dxg; do
  [ -e "$device" ] && hardware=yes
done
# Beside a graphics device the software driver is one choice more; without one it is the only choice,
# and the system's own, which Dawn may refuse as too old, must not come first.
if [ -n "$hardware" ]; then
  echo "VK_ADD_DRIVER_FILES=$cache/mesa/lvp_icd.json"
elif [ "${2:-}" = swiftshader ] && [ -f "$swiftshader" ]; then
  echo "VK_DRIVER_FILES=$swiftshader"
  exit 0
else
  echo "VK_DRIVER_FILES=$cache/mesa/lvp_icd.json"
fi
if [ -n "$(ls "$cache/mesa/lib")" ]; then
  echo "LD_LIBRARY_PATH=$cache/mesa/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi
