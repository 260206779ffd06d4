// The types of chats' answers, and of functions that a model may call.
import type { Generation, GenerateOptions, Message } from "./api.ts";

/** A function that a model may call, as in OpenAI's chats. */
export interface Tool {
  type: "function";
  function: {
    name: string;
    description?: string;
    /** The JSON Schema of its arguments. */
    parameters?: object;
  };
}

export interface ToolCall {
  id: string;
  name: string;
  arguments: Record<string, unknown>;
}

/** A call as the module gives it: its arguments are JSON. */
export interface WrittenCall {
  name: string;
  arguments: string;
}

/** The answer to a chat: its text, its reasoning and the calls of functions, each apart. */
export interface ChatAnswer extends Generation {
  /** "" where the model does not reason, or a form (`jsonSchema` and its like) lets it not. */
  reasoning: string;
  /** Calls of the `tools` that the chat was given; see `toolResult`. */
  toolCalls: ToolCall[];
  /** The answer as a message of the conversation. */
  message: Message;
}

/** A part of an answer as it comes; a call comes once it is whole. */
export type ToolPart = { kind: "reasoning" | "text"; text: string } | { kind: "call"; call: ToolCall };

export interface ToolAnswer {
  text: string;
  /** Written by a model that reasons before its answer. */
  reasoning: string;
  calls: ToolCall[];
  /** `calls`: the model waits for what its calls give. */
  finish: "end" | "calls" | "length" | "cancelled";
  tokens: number;
  promptTokens: number;
  cachedTokens: number;
  /** The answer as a message of the conversation, to which those of `toolResult` are added. */
  message: Message;
}

export interface ToolOptions
  extends Pick<
    GenerateOptions,
    | "maxTokens"
    | "temperature"
    | "topK"
    | "topP"
    | "minP"
    | "repetitionPenalty"
    | "presencePenalty"
    | "frequencyPenalty"
    | "logitBias"
    | "seed"
    | "stop"
    | "signal"
  > {
  tools: Tool[];
  /** Whether the model may call a function, has to, or has to call that one; it may unless given. */
  toolChoice?: "auto" | "none" | "required" | { name: string };
}

/** A running answer: its parts as they come, and all of it. Leaving the loop cancels. */
export interface ToolRun extends AsyncIterable<ToolPart> {
  readonly result: Promise<ToolAnswer>;
  /** Ends the answer with what there is. */
  cancel(): void;
}
