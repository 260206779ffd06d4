// huggingface_tokenizers.js PACKAGE FOLDER RUNS: what bench_tokenizer measures, with the npm package
// "tokenizers" of Hugging Face unpacked in PACKAGE. The same line of JSON.
const fs = require("node:fs");
const path = require("node:path");

const [packageFolder, folder, runs] = process.argv.slice(2);
const { Tokenizer } = require(path.resolve(packageFolder));

// Processor time, as bench_tokenizer counts it.
function seconds(start) {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1e6;
}

// FNV-1a over the ids as little-endian words.
function hashOf(ids) {
  let hash = 2166136261;
  for (const id of ids) {
    for (let shift = 0; shift < 32; shift += 8) {
      hash = Math.imul(hash ^ ((id >>> shift) & 0xff), 16777619) >>> 0;
    }
  }
  return hash;
}

async function main() {
  const text = fs.readFileSync(path.join(folder, "text.txt"), "utf8");
  const load = [];
  const encode = [];
  let ids = [];
  for (let run = 0; run < Number(runs); ++run) {
    let start = process.cpuUsage();
    const tokenizer = Tokenizer.fromFile(path.join(folder, "tokenizer.json"));
    load.push(seconds(start));
    start = process.cpuUsage();
    const encoding = await tokenizer.encode(text, null, { addSpecialTokens: false });
    encode.push(seconds(start));
    ids = encoding.getIds();
  }
  const bytes = Buffer.byteLength(text);
  console.log(JSON.stringify({ load, encode, bytes, ids: ids.length, hash: hashOf(ids) }));
}

main();
