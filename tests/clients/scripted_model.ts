// A model that says what its chat template chooses: for what no model this small would say by itself,
// such as calls of tools. Each token is followed by one certain token: a Llama whose layer adds
// nothing, whose embeddings are all orthogonal, and whose output matrix has the successors.
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const BYTES = 256;
const VOCABULARY = 320;
const END = "<end>";

/** The model's output after the token in front: pieces of text that are tokens, or single bytes. */
const SCRIPTS: Record<string, (string | number)[]> = {
  "<|one|>": [
    "<tool",
    '_call>\n{"name": "weather", "arguments": ',
    '{"city": "Par',
    'is", "days"',
    ": 2}}\n</tool_call>",
  ],
  "<|two|>": [
    "<tool_",
    'call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>',
    '\n<tool_call>\n{"name": "weather", "arguments": {"city": "Rome"}}\n</tool_',
    "call>",
  ],
  "<|sunny|>": ["It is sunny", " in Paris ", 0xf0, 0x9f, 0x99, 0x82, " today."],
  "<|lost|>": ["I do not", " know."],
  "<|think|>": ["<think>", "The user", " greets me.", "</think>", "Good", " morning."],
};

/** Byte-level BPE writes each byte as a letter: the printable ones as themselves. */
function lettersOfBytes(): string[] {
  let next = BYTES;
  return Array.from({ length: BYTES }, (_, byte) => {
    const isPlain = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte < 0xad) || byte > 0xad;
    return String.fromCharCode(isPlain ? byte : next++);
  });
}

function tokenizer(added: { content: string; special: boolean }[]): object {
  const byteLevel = {
    type: "ByteLevel",
    add_prefix_space: false,
    trim_offsets: true,
    use_regex: false,
  };
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: added.map((token, index) => ({
      ...token,
      id: BYTES + index,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
    })),
    normalizer: null,
    pre_tokenizer: byteLevel,
    post_processor: null,
    decoder: byteLevel,
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      vocab: Object.fromEntries(lettersOfBytes().map((letter, byte) => [letter, byte])),
      merges: [],
    },
  };
}

function writeTensors(
  path: string,
  tensors: Record<string, { shape: number[]; data: Float32Array }>,
) {
  const header: Record<string, object> = {};
  let size = 0;
  for (const [name, { shape, data }] of Object.entries(tensors)) {
    header[name] = { dtype: "F32", shape, data_offsets: [size, size + data.byteLength] };
    size += data.byteLength;
  }
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  const parts = Object.values(tensors).map(({ data }) => Buffer.from(data.buffer));
  writeFileSync(path, Buffer.concat([length, text, ...parts]));
}

/** Pairs of tokens: the second follows the first. */
function successors(ids: Map<string, number>): [number, number][] {
  const id = (piece: string | number) => (typeof piece === "number" ? piece : ids.get(piece)!);
  return Object.entries(SCRIPTS).flatMap(([opening, pieces]) => {
    const chain = [opening, ...pieces, END].map(id);
    return chain.slice(1).map((token, index): [number, number] => [chain[index]!, token]);
  });
}

/** Writes a tokenizer of 256 bytes and nothing else, for models with any vocabulary. */
export function writeByteTokenizer(folder: string): void {
  writeFileSync(join(folder, "tokenizer.json"), JSON.stringify(tokenizer([])));
}

/** Writes the model into a new folder. */
export function writeScriptedModel(folder: string, chatTemplate: string): void {
  mkdirSync(folder);
  copyFileSync(chatTemplate, join(folder, "chat_template.jinja"));
  const pieces = Object.values(SCRIPTS)
    .flat()
    .filter((piece) => typeof piece === "string");
  const added = [
    ...[END, ...Object.keys(SCRIPTS)].map((content) => ({ content, special: true })),
    ...pieces.map((content) => ({ content, special: false })),
  ];
  const ids = new Map(added.map(({ content }, index) => [content, BYTES + index]));
  if (ids.size !== added.length || BYTES + ids.size > VOCABULARY) {
    throw new Error("The pieces of the scripts must differ and fit in the vocabulary.");
  }
  writeFileSync(join(folder, "tokenizer.json"), JSON.stringify(tokenizer(added)));
  const end = ids.get(END)!;
  const config = {
    architectures: ["LlamaForCausalLM"],
    model_type: "llama",
    vocab_size: VOCABULARY,
    hidden_size: VOCABULARY,
    intermediate_size: 32,
    num_hidden_layers: 1,
    num_attention_heads: 1,
    num_key_value_heads: 1,
    head_dim: 32,
    hidden_act: "silu",
    rms_norm_eps: 1e-6,
    rope_theta: 10000,
    max_position_embeddings: 4096,
    tie_word_embeddings: false,
    torch_dtype: "float32",
    eos_token_id: end,
  };
  writeFileSync(join(folder, "config.json"), JSON.stringify(config));
  const zeros = (...shape: number[]) => ({
    shape,
    data: new Float32Array(shape.reduce((a, b) => a * b)),
  });
  const ones = () => ({ shape: [VOCABULARY], data: new Float32Array(VOCABULARY).fill(1) });
  const embeddings = zeros(VOCABULARY, VOCABULARY);
  for (let i = 0; i < VOCABULARY; ++i) embeddings.data[i * (VOCABULARY + 1)] = 1;
  // The norm makes sqrt(320) of the 1, so that the successor's logit is 71 and all others are 0.
  const output = zeros(VOCABULARY, VOCABULARY);
  for (const [token, next] of successors(ids)) output.data[next * VOCABULARY + token] = 4;
  const layer = "model.layers.0";
  writeTensors(join(folder, "model.safetensors"), {
    "model.embed_tokens.weight": embeddings,
    "model.norm.weight": ones(),
    "lm_head.weight": output,
    [`${layer}.input_layernorm.weight`]: ones(),
    [`${layer}.post_attention_layernorm.weight`]: ones(),
    [`${layer}.self_attn.q_proj.weight`]: zeros(32, VOCABULARY),
    [`${layer}.self_attn.k_proj.weight`]: zeros(32, VOCABULARY),
    [`${layer}.self_attn.v_proj.weight`]: zeros(32, VOCABULARY),
    [`${layer}.self_attn.o_proj.weight`]: zeros(VOCABULARY, 32),
    [`${layer}.mlp.gate_proj.weight`]: zeros(32, VOCABULARY),
    [`${layer}.mlp.up_proj.weight`]: zeros(32, VOCABULARY),
    [`${layer}.mlp.down_proj.weight`]: zeros(VOCABULARY, 32),
  });
}
