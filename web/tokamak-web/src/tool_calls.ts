// Calls of functions: as the model's output has them, and as a page has them.
import type { Message, ToolCall, WrittenCall } from "./api.ts";

function parsed(text: string): Record<string, unknown> | null {
  try {
    const values: unknown = JSON.parse(text === "" ? "{}" : text);
    return typeof values === "object" && values !== null && !Array.isArray(values) ? (values as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** The call, or none where its arguments are no object: one that the longest answer has cut. */
export function callOf(id: string, { name, arguments: text }: WrittenCall): ToolCall[] {
  const values = parsed(text);
  return values ? [{ id, name, arguments: values }] : [];
}

/** The message of an answer, as a conversation goes on with it. */
export function answerMessage(text: string, calls: ToolCall[]): Message {
  const written = calls.map(({ id, name, arguments: values }) => ({ id, type: "function", function: { name, arguments: JSON.stringify(values) } }));
  return { role: "assistant", content: text, ...(calls.length > 0 && { tool_calls: written }) };
}
