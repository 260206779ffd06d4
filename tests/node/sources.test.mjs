// Facts that stand in two places are the same: headers, types, documents, examples, versions.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as tokamak from "../../node/dist/index.js";
import { run, SOURCE } from "./shared.mjs";

const read = (...names) => readFileSync(join(SOURCE, ...names), "utf8");
const camel = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());

/** The names that the comment before a function of the C interface lists. */
function optionsOf(header, name) {
  const text = read("include", "tokamak", header);
  const end = text.indexOf(`TOKAMAK_API bool ${name}(`);
  const comment = text.slice(text.lastIndexOf("/*", end), end).replace(/\([^)]*\)/gs, "");
  return /Names: (.*?);/s.exec(comment)[1].match(/\w+/g).map(camel);
}

/** The members of an interface of the package, but callbacks and signals. */
function membersOf(file, name) {
  const body = new RegExp(`^export interface ${name} (?:extends \\w+ )?\\{\\n(.*?)^\\}`, "ms").exec(read("node", "src", file))[1];
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??:/gm)].map(([, member]) => member).filter((member) => member !== "signal");
}

const without = (names, ...others) => names.filter((name) => !others.includes(name)).sort();

test("every option of the C interface has a type", () => {
  // These have other forms here.
  assert.deepEqual(
    without(optionsOf("c.h", "tokamak_request_set"), "prompt", "chatVariables", "topLogprobs"),
    without(membersOf("text_api.ts", "GenerateOptions"), "tools", "templateVariables"),
  );
  assert.deepEqual(
    without(optionsOf("c.h", "tokamak_options_set"), "model", "memory", "imagePixels", "adapter", "hasThread"),
    without(membersOf("api.ts", "OpenOptions"), "maxMemory", "megapixels", "adapters", "codec", "pull"),
  );
  assert.deepEqual(without(optionsOf("c_vectors.h", "tokamak_embed_options_set")), without(membersOf("api.ts", "EmbedOptions")));
  assert.deepEqual(without(optionsOf("c_vectors.h", "tokamak_rerank_options_set")), without(membersOf("api.ts", "RerankOptions"), "limit"));
  assert.deepEqual(without(optionsOf("c_vectors.h", "tokamak_logits_options_set"), "all"), without(membersOf("api.ts", "LogitsOptions")));
  assert.deepEqual(
    without(optionsOf("c_speech.h", "tokamak_transcribe_options_set")),
    without(membersOf("sound_api.ts", "TranscribeOptions"), "format"),
  );
  assert.deepEqual(without(optionsOf("c_speech.h", "tokamak_speak_options_set")), without(membersOf("sound_api.ts", "SpeakOptions"), "speaker"));
});

test("every error of the C interface has a code", () => {
  const body = /typedef enum \{([^}]*)\} tokamak_error_code;/.exec(read("include", "tokamak", "c.h"))[1];
  const names = [...body.matchAll(/TOKAMAK_(\w+) = \d+/g)].map(([, name]) => name.toLowerCase().replaceAll("_", "-"));
  const codes = [...read("node", "src", "errors.ts").matchAll(/^ {2}"([\w-]+)",/gm)].map(([, code]) => code);
  assert.deepEqual(codes, [...names, "internal"]);
});

test("the version is that of the project everywhere", () => {
  const { version, optionalDependencies } = JSON.parse(read("node", "package.json"));
  assert.equal(version, /project\(tokamak VERSION ([\d.]+)/.exec(read("CMakeLists.txt"))[1]);
  assert.equal(version, tokamak.version());
  assert.deepEqual(new Set(Object.values(optionalDependencies)), new Set([version]));
});

test("the page names what there is", () => {
  const page = read("docs", "node.md");
  const names = [
    ...Object.keys(tokamak),
    ...membersOf("text_api.ts", "GenerateOptions"),
    ...membersOf("api.ts", "OpenOptions"),
    ...membersOf("text_api.ts", "Generation"),
    ...membersOf("api.ts", "ModelFacts"),
    ...[...read("node", "src", "api.ts").split("export interface Engine {")[1].split("\n}")[0].matchAll(/^ {2}(\w+)\(/gm)].map(([, name]) => name),
    "openaiFetch",
    "TOKAMAK_NODE_ADDON",
    "TOKAMAK_PROGRAM",
  ];
  for (const name of names) assert.match(page, new RegExp(`\\b${name}\\b`), `docs/node.md says nothing of ${name}`);
  for (const name of readdirSync(join(SOURCE, "examples", "node")).filter((file) => file.endsWith(".mjs"))) {
    assert.ok(page.includes(`\`${name}\``), `docs/node.md says nothing of ${name}`);
  }
});

test("the examples have types, and wrong options are found", async () => {
  const compiler = join(SOURCE, "web", "node_modules", ".bin", "tsc");
  const { stdout } = await run(compiler, ["-p", join(SOURCE, "tests", "node")]).catch((error) => error);
  assert.equal(stdout, "");
});
