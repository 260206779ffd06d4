// The prompt of an answer: the turns of a conversation as the model takes them.
import type { Engine, GenerateOptions, Message, Part, Run } from "tokamak-web";
import type { Turn } from "./conversations.ts";
import { imageOf } from "./kept_images.ts";

/** The images, then the text, as models were trained on; a model that does not see gets the text alone. Calls that nobody has answered are left out. */
async function messageOf({ role, content, images = [], calls = [], call }: Turn, sees: boolean, answered: Set<string>): Promise<Message> {
  const made = calls.filter(({ id }) => answered.has(id)).map(({ id, name, arguments: values }) => ({ id, type: "function", function: { name, arguments: JSON.stringify(values) } }));
  if (made.length > 0) return { role, content, tool_calls: made };
  if (call !== undefined) return { role, content, tool_call_id: call };
  const files = sees ? (await Promise.all(images.map(imageOf))).filter((image) => image !== undefined) : [];
  if (files.length === 0) return { role, content };
  const parts: Part[] = files.map((image) => ({ type: "image", image }));
  return { role, content: [...parts, { type: "text", text: content }] };
}

/** The turns as messages. */
export function messagesOf(turns: Turn[], sees: boolean): Promise<Message[]> {
  const answered = new Set(turns.flatMap(({ call }) => call ?? []));
  return Promise.all(turns.map((turn) => messageOf(turn, sees, answered)));
}

/** Begins what the model continues: a chat, whose last turn may be an answer so far, or for a model without a template the text so far. */
export async function begin(own: Engine, turns: Turn[], options: GenerateOptions): Promise<Run> {
  if (!own.model.hasTemplate) return own.generate(turns.map(({ content }) => content).join("\n"), options);
  const goesOn = turns.at(-1)?.role === "assistant" && { templateVariables: { continue_final_message: true, add_generation_prompt: false } };
  return own.chat(await messagesOf(turns, own.model.sees), { ...options, ...goesOn });
}
