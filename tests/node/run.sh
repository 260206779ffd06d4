#!/bin/sh
# run.sh [NODE]: the tests of the npm package for Node.js, for CTest, with that Node or the one of web/.
set -eu
cd "$(dirname "$0")/../.."
tools=web/node_modules
node=${1:-$tools/.bin/node}
if [ ! -x "$tools/.bin/tsc" ] || ! command -v "$node" >/dev/null; then
  echo "The tools of web/ are missing; \`./dev check node\` installs them."
  exit 77
fi
"$tools/.bin/tsc" -p node
exec "$node" --test tests/node/*.test.mjs
