#!/bin/sh
# vitest.sh MODULE TESTS...: tests of the package web/tokamak-web that need the built module, for CTest.
set -eu
module=$1
shift
cd "$(dirname "$0")/../../web/tokamak-web"
if [ ! -x ../node_modules/.bin/vitest ]; then
  echo "The package's tools are missing; \`./dev check web\` installs them."
  [ -z "${TOKAMAK_REQUIRE_BROWSER:-}" ] || exit 1
  exit 77
fi
# The workspace's own Node comes first: vitest needs a newer one than many systems have.
PATH=$PWD/../node_modules/.bin:$PATH TOKAMAK_WEB_MODULE=$module exec vitest run "$@"
