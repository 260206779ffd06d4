// The functions that run in this page, and those that a visitor describes and answers for.
import type { Tool, ToolCall } from "tokamak-web";
import { calculated } from "./arithmetic.ts";

const DIGITS = 12;

interface OwnTool {
  tool: Tool;
  run(values: Record<string, unknown>): string;
}

const ownTool = (name: string, description: string, properties: object, required: string[], run: OwnTool["run"]): OwnTool => ({
  tool: { type: "function", function: { name, description, parameters: { type: "object", properties, required } } },
  run,
});

const OWN: OwnTool[] = [
  ownTool("time", "The date and the time.", { zone: { type: "string", description: "A time zone, as Europe/Berlin; the visitor's unless given." } }, [], ({ zone }) =>
    new Date().toLocaleString("en-GB", { dateStyle: "full", timeStyle: "long", ...(typeof zone === "string" && zone !== "" && { timeZone: zone }) })),
  ownTool("calculate", "The value of a sum of numbers.", { sum: { type: "string", description: "With + - * / ^ % and brackets, as (2 + 3) * 4." } }, ["sum"], ({ sum }) =>
    String(Number(calculated(String(sum)).toPrecision(DIGITS)))),
];

export const OWN_TOOLS: Tool[] = OWN.map(({ tool }) => tool);

/** The value of a call whose function this page has, or why there is none. */
export function ownAnswer({ name, arguments: values }: ToolCall): string | undefined {
  const own = OWN.find(({ tool }) => tool.function.name === name);
  if (!own) return undefined;
  try {
    return own.run(values);
  } catch (error) {
    return `Error: ${(error as Error).message}`;
  }
}

/** The functions of a visitor's text: a JSON list of them, plain or as in OpenAI's chats. Fails with a sentence. */
export function toolsOf(text: string): Tool[] {
  if (text.trim() === "") return [];
  const list: unknown = JSON.parse(text);
  if (!Array.isArray(list)) throw new Error("Expected a list of functions.");
  return list.map((one: Partial<Tool> & Partial<Tool["function"]>): Tool => {
    const described = one.function ?? (one as Tool["function"]);
    if (typeof described.name !== "string" || !/^[\w.-]{1,64}$/.test(described.name)) throw new Error(`Each function has a "name" of letters, digits, "_", "." and "-".`);
    return { type: "function", function: described };
  });
}
