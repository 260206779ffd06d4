#!/bin/sh
# e2e.sh TESTS...: tests of the package and the site in a Chromium that are too long for every run, for CTest.
set -eu
cd "$(dirname "$0")/../../web"
if [ ! -x node_modules/.bin/playwright ] || [ ! -f tokamak-web/dist/worker.js ]; then
  echo "The package is not built; \`./dev check web\` builds it."
  [ -z "${TOKAMAK_REQUIRE_BROWSER:-}" ] || exit 1
  exit 77
fi
exec npm run e2e -- "$@"
