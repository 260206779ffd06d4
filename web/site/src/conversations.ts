// Conversations, kept in the browser: in localStorage, since they are short texts, one entry each; their images lie beside them
// (kept_images.ts). Several tabs may have the same one open: what another tab has added since is never written over.
import type { ToolCall } from "tokamak-web";
import { forget, keep as keepText, kept, keptKeys } from "./kept.ts";
import { forgetImages } from "./kept_images.ts";

export interface Turn {
  /** `tool`: what a call of the answer before it has given. */
  role: "user" | "assistant" | "tool";
  content: string;
  /** The functions that an answer calls. */
  calls?: ToolCall[];
  /** The id of the call that a turn of the role `tool` answers. */
  call?: string;
  /** By the numbers that kept_images.ts knows them by. */
  images?: string[];
  /** The text before the question of an answer, and its sources. */
  memory?: { context: string; sources: string[] };
  /** An answer that has not come to its end: stopped, cut, or its tab was left. */
  unfinished?: boolean;
}

export interface Conversation {
  id: string;
  /** Milliseconds since 1970, of the last turn. */
  changed: number;
  turns: Turn[];
}

const PREFIX = "tokamak.chat.";

/** The text of each conversation that this tab has read or written last. */
const known = new Map<string, string>();

export function titleOf({ turns }: Conversation): string {
  const first = turns.find(({ role }) => role === "user")?.content.trim() ?? "";
  return first === "" ? "New conversation" : first.length > 48 ? `${first.slice(0, 47)}…` : first;
}

export function create(turns: Turn[] = []): Conversation {
  return { id: crypto.randomUUID(), changed: Date.now(), turns };
}

function parsed(text: string | null): Conversation | null {
  try {
    const found = JSON.parse(text ?? "") as Conversation;
    return Array.isArray(found.turns) ? found : null;
  } catch {
    return null; // Not ours, or cut off: it stays where it is.
  }
}

/** The conversation as it is kept now; null where it was removed or is damaged. */
export function read(id: string): Conversation | null {
  const text = kept(PREFIX + id);
  const found = parsed(text);
  if (found && text !== null) known.set(id, text);
  return found;
}

/** The last changed first; what is damaged is left out. */
export function all(): Conversation[] {
  const ids = keptKeys().filter((key) => key.startsWith(PREFIX)).map((key) => key.slice(PREFIX.length));
  return ids.map((id) => parsed(kept(PREFIX + id))).filter((one) => one !== null).sort((a, b) => b.changed - a.changed);
}

/**
 * Keeps a conversation. Where another tab has changed what is kept since this tab has read it, the conversation becomes one of its
 * own, so that both stay. False where the browser has no room or keeps nothing (private windows).
 */
export function keep(conversation: Conversation): boolean {
  const before = kept(PREFIX + conversation.id);
  if (before !== null && before !== known.get(conversation.id)) conversation.id = crypto.randomUUID();
  const text = JSON.stringify(conversation);
  if (!keepText(PREFIX + conversation.id, text)) return false;
  known.set(conversation.id, text);
  return true;
}

/** Calls with the id of each conversation that another tab changes. */
export function onChange(listener: (id: string) => void): void {
  addEventListener("storage", ({ key }) => {
    if (key?.startsWith(PREFIX)) listener(key.slice(PREFIX.length));
  });
}

/** Removes it; its images stay until `forgetImagesOf`, so that it can be put back. */
export function remove({ id }: Conversation): void {
  forget(PREFIX + id);
  known.delete(id);
}

/** Forgets the images of a conversation that no other one has. */
export async function forgetImagesOf({ turns }: Conversation): Promise<void> {
  const idsOf = (some: Turn[]) => some.flatMap(({ images = [] }) => images);
  const used = new Set(all().flatMap((one) => idsOf(one.turns)));
  await forgetImages(idsOf(turns).filter((id) => !used.has(id)));
}

/** The calls of the last answer that wait for what they give. */
export function openCalls({ turns }: Conversation): ToolCall[] {
  const last = turns.findLastIndex(({ role }) => role === "assistant");
  const answered = new Set(turns.slice(last + 1).map(({ call }) => call));
  return (turns[last]?.calls ?? []).filter(({ id }) => !answered.has(id));
}

const WHO: Record<Turn["role"], string> = { user: "You", assistant: "Model", tool: "Function" };

export function asMarkdown({ turns }: Conversation): string {
  const called = ({ calls = [] }: Turn) => calls.map(({ name, arguments: values }) => `\n\n\`${name}(${JSON.stringify(values)})\``).join("");
  return turns.map((turn) => `**${WHO[turn.role]}:**\n\n${(turn.images ?? []).map(() => "(An image.)\n\n").join("")}${turn.content}${called(turn)}\n`).join("\n");
}
