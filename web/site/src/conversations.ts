// Conversations, kept in the browser: in localStorage, since they are short texts, one entry each; their images lie
// beside them (kept_images.ts).
import { forgetImages } from "./kept_images.ts";

export interface Turn {
  role: "user" | "assistant";
  content: string;
  /** By the numbers that kept_images.ts knows them by. */
  images?: string[];
  /** The text before the question of an answer, and its sources. */
  memory?: { context: string; sources: string[] };
}

export interface Conversation {
  id: string;
  /** Milliseconds since 1970, of the last turn. */
  changed: number;
  turns: Turn[];
}

const PREFIX = "tokamak.chat.";

export function titleOf({ turns }: Conversation): string {
  const first = turns.find(({ role }) => role === "user")?.content.trim() ?? "";
  return first === "" ? "New conversation" : first.length > 48 ? `${first.slice(0, 47)}…` : first;
}

export function create(): Conversation {
  return { id: crypto.randomUUID(), changed: Date.now(), turns: [] };
}

/** The last changed first; what is damaged is left out. */
export function all(): Conversation[] {
  const found: Conversation[] = [];
  for (let i = 0; i < localStorage.length; i += 1) {
    const key = localStorage.key(i);
    if (!key?.startsWith(PREFIX)) continue;
    try {
      const kept = JSON.parse(localStorage.getItem(key) ?? "") as Conversation;
      if (Array.isArray(kept.turns)) found.push(kept);
    } catch {
      // Not ours, or cut off: it stays where it is.
    }
  }
  return found.sort((a, b) => b.changed - a.changed);
}

/** False where the browser has no room or keeps nothing (private windows). */
export function keep(conversation: Conversation): boolean {
  try {
    localStorage.setItem(PREFIX + conversation.id, JSON.stringify(conversation));
    return true;
  } catch {
    return false;
  }
}

export function remove({ id, turns }: Conversation): void {
  localStorage.removeItem(PREFIX + id);
  void forgetImages(turns.flatMap(({ images = [] }) => images));
}

export function asMarkdown({ turns }: Conversation): string {
  return turns.map(({ role, content, images = [] }) => `**${role === "user" ? "You" : "Model"}:**\n\n${images.map(() => "(An image.)\n\n").join("")}${content}\n`).join("\n");
}
