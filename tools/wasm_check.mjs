// Runs the browser module in Node: what a model brings along is refused or rendered, but never traps,
// however deeply it nests. `node tools/wasm_check.mjs build/wasm/bin/tokamak_wasm.wasm`
import { readFileSync } from "node:fs";

// Texts of one kind at every depth: templates within their own limits, and far beyond them.
const KINDS = {
  parentheses: (n) => `{{ ${"(".repeat(n)}1${")".repeat(n)} }}`,
  brackets: (n) => `{{ ${"[".repeat(n)}1${"]".repeat(n)} }}`,
  blocks: (n) => `${"{% if true %}".repeat(n)}x${"{% endif %}".repeat(n)}`,
  loops: (n) => `${"{% for a in [1] %}".repeat(n)}x${"{% endfor %}".repeat(n)}`,
  macros: (n) =>
    `{% macro f(n) %}{% set x %}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endset %}{{ x }}` +
    `{% endmacro %}{{ f(${n}) }}`,
  lists: (n) =>
    `{% set ns = namespace(x=[]) %}{% for i in range(${n}) %}{% set ns.x = [ns.x] %}{% endfor %}` +
    `{{ ns.x }}{{ ns.x | tojson }}`,
  filters: (n) => `{{ 1 ${"| string ".repeat(n)}}}`,
  negations: (n) => `{{ ${"not ".repeat(n)}1 }}`,
  powers: (n) => `{{ ${"1 ** ".repeat(n)}1 }}`,
};
const DEPTHS = [1, 30, 60, 100, 140, 160, 300, 500, 5000];

const module = new WebAssembly.Module(readFileSync(process.argv[2]));
const imports = {};
for (const { module: from, name } of WebAssembly.Module.imports(module)) {
  imports[from] ??= {};
  imports[from][name] = () => {
    throw new Error(`${name} was called`);  // no template needs what the host provides
  };
}

function start() {
  const { exports } = new WebAssembly.Instance(module, imports);
  exports._initialize();
  return (name, text) => {
    const bytes = new TextEncoder().encode(text);
    const at = exports.tokamak_memory(bytes.length);
    new Uint8Array(exports.memory.buffer).set(bytes, at);
    return exports[name](at, bytes.length);
  };
}

let failures = 0;
function check(what, expected, call) {
  let found;
  try {
    found = call();
  } catch (error) {
    found = error.message;
  }
  if (expected.includes(found)) return;
  failures += 1;
  console.error(`${what}: ${found}, expected ${expected.join(" or ")}`);
}

for (const [kind, text] of Object.entries(KINDS)) {
  for (const depth of DEPTHS) {
    const call = start();
    check(`${depth} ${kind}`, depth === 1 ? [1] : [0, 1], () => call("tokamak_renders", text(depth)));
    check(`the module after ${depth} ${kind}`, [1], () => call("tokamak_renders", "{{ 1 }}"));
  }
}
const call = start();
check("JSON of 256 levels", [1], () => call("tokamak_is_json", "[".repeat(256) + "]".repeat(256)));
check("JSON of 5000 levels", [0], () => call("tokamak_is_json", "[".repeat(5000)));
process.exitCode = failures > 0 ? 1 : 0;
