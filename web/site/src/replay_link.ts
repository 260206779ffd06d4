// The address of a story: how it was written, and a mark of its tokens, by which a replay knows whether it is the same.

/** The model and the device that wrote a story. */
export interface Writer {
  model: string;
  device: string;
}

export interface Story extends Partial<Writer> {
  prompt: string;
  seed: number;
  /** The model's own unless given. */
  temperature?: number;
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

export function linkOf({ model, prompt, seed, temperature, tokens, device, mark }: Story): string {
  const values = { m: model, p: prompt, s: seed, t: temperature, n: tokens, d: device, k: mark };
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return `#${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

/** The story that an address asks for; null where it asks for none. */
export function storyOf(hash: string): Story | null {
  const asked = new URLSearchParams(hash.slice(1));
  const prompt = asked.get("p");
  const seed = Number(asked.get("s") ?? NaN);
  const tokens = Number(asked.get("n"));
  if (!prompt || !Number.isInteger(seed) || seed < 0) return null;
  const temperature = Number(asked.get("t") || NaN);
  const [model, device, mark] = [asked.get("m"), asked.get("d"), asked.get("k")];
  return {
    prompt,
    seed,
    ...(model && { model }),
    ...(device && { device }),
    ...(mark && { mark }),
    ...(temperature >= 0 && temperature <= 2 && { temperature }),
    ...(Number.isInteger(tokens) && tokens > 0 && { tokens: Math.min(tokens, 1000) }),
  };
}

/** The reason why the tokens differ from those of a link, as far as it can be told here. `tabs` share the engine. */
export function reasonOf(story: Story, here: Writer & { tabs: number }): string {
  if (story.model !== undefined && story.model !== here.model) return `${story.model} wrote it, and the model here is ${here.model}.`;
  if (story.device !== undefined && story.device !== here.device) return `It was written on ${story.device}, and this is ${here.device}: devices round differently.`;
  if (here.tabs > 1) return `${here.tabs} tabs share the model here, and texts that are written side by side are rounded differently: close the others and reload.`;
  const known = story.model !== undefined && story.device !== undefined ? "Model and device are the same. " : "The link does not name its model and its device. ";
  return `${known}It may be of another version of the engine, of the browser or of a driver, or have been written beside other texts.`;
}
