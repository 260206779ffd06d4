#!/bin/sh
# clients.sh [TESTS...]: real clients against servers of our own, for CTest; all of them without TESTS.
set -eu
cd "$(dirname "$0")"
# The Node of web/ is one that reads TypeScript; many systems' own is not.
node=../../web/node_modules/.bin/node
if [ ! -x "$node" ] || [ ! -d node_modules ]; then
  echo "The clients are missing; \`./dev check clients\` installs them."
  exit 77
fi
[ $# -gt 0 ] || set -- *.test.ts
exec "$node" --test --test-global-setup=servers.ts "$@"
