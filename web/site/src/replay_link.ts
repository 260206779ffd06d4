// The address of a story: its prompt, its seed, and a mark of its tokens, by which a replay knows whether it is the same.

export interface Story {
  prompt: string;
  seed: number;
  /** A mark of its tokens; nothing before there are any. */
  mark?: string;
  /** The number of its tokens. */
  tokens?: number;
}

/** FNV-1a over the ids. */
export function markOf(ids: number[]): string {
  let hash = 0x811c9dc5;
  for (const id of ids) {
    for (let shift = 0; shift < 32; shift += 8) hash = Math.imul(hash ^ ((id >>> shift) & 0xff), 0x01000193) >>> 0;
  }
  return hash.toString(36);
}

export function linkOf({ prompt, seed, mark, tokens }: Story): string {
  return `#${new URLSearchParams({ p: prompt, s: String(seed), ...(tokens !== undefined && { n: String(tokens) }), ...(mark !== undefined && { k: mark }) })}`;
}

/** The story that an address asks for; null where it asks for none. */
export function storyOf(hash: string): Story | null {
  const asked = new URLSearchParams(hash.slice(1));
  const prompt = asked.get("p");
  const seed = Number(asked.get("s") ?? NaN);
  const tokens = Number(asked.get("n"));
  if (!prompt || !Number.isInteger(seed) || seed < 0) return null;
  const mark = asked.get("k");
  return { prompt, seed, ...(mark && { mark }), ...(Number.isInteger(tokens) && tokens > 0 && { tokens: Math.min(tokens, 1000) }) };
}
