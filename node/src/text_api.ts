// Types of the API: texts that a model writes. Times are seconds.

/** An image: the bytes of a file in PNG, JPEG or WebP, or the path of one. */
export type Image = Blob | Uint8Array | string | URL;

export interface ImagePart {
  type: "image";
  image: Image;
}

/** A part of a message, as in OpenAI's chats; images are `data:` addresses there, nothing is fetched. */
export type Part =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string; detail?: "auto" | "low" | "high" } }
  | ImagePart;

export type Message = {
  role: "system" | "user" | "assistant" | "tool";
  /** The images of a message stand before its text. */
  content: string | Part[];
  [more: string]: unknown;
};

/** Numbers of sampling that are not given are those that the model recommends. */
export interface GenerateOptions {
  /** 128 unless given. */
  maxTokens?: number;
  /** No end token comes before these. */
  minTokens?: number;
  temperature?: number;
  topK?: number;
  topP?: number;
  minP?: number;
  typicalP?: number;
  repetitionPenalty?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
  /** Additions to logits, by token: -100 to 100. */
  logitBias?: Record<number, number>;
  seed?: number;
  stop?: string | string[];
  /** Tokens that end the text; those of the model unless given, `[]`: none. */
  endIds?: number[];
  grammar?: string;
  jsonSchema?: object;
  regex?: string;
  /** The text is one of these. */
  choices?: string[];
  /** Logarithms of the tokens' probabilities, with that many alternatives for each. */
  logprobs?: number;
  /** Those of the prompt's tokens, too. */
  promptLogprobs?: boolean;
  /** Reasoning comes apart from the text, as `reasoning`. */
  separateReasoning?: boolean;
  /** The text after the gap that is filled. */
  suffix?: string;
  /** The name of one of the adapters that the model was opened with. */
  adapter?: string;
  /** Beginnings of prompts are shared among texts of a tenant. */
  tenant?: string;
  /** Texts that wait go on in the order of this number, the highest first. */
  priority?: number;
  /** Seconds, after which the text ends as cancelled. */
  deadline?: number;
  tools?: object[];
  /** Further variables of the model's chat template, such as `enable_thinking`. */
  templateVariables?: object;
  /** Ends the text with what there is, as `cancel` does. */
  signal?: AbortSignal;
}

export interface TokenLogprob {
  id: number;
  logprob: number;
}

export interface Logprob extends TokenLogprob {
  /** The likeliest tokens, as many as were asked for. */
  top: TokenLogprob[];
}

export interface Piece {
  text: string;
  ids: number[];
  logprobs?: Logprob[];
  /** With `separateReasoning`: the reasoning that came before the text. */
  reasoning?: string;
}

export interface Generation {
  text: string;
  ids: number[];
  tokens: number;
  finish: "end" | "stop" | "length" | "context" | "cancelled" | "grammar";
  /** The stop text that was found, "" if none. */
  stop: string;
  seed: number;
  promptTokens: number;
  cachedTokens: number;
  prefillSeconds: number;
  decodeSeconds: number;
  reasoning?: string;
  /** With `promptLogprobs`: those of the prompt's tokens but the first. */
  promptLogprobs?: Logprob[];
}

/** A text in flight: its pieces as they come, and all of it. Leaving the loop cancels. */
export interface Run extends AsyncIterable<Piece> {
  readonly result: Promise<Generation>;
  /** The whole text. */
  text(): Promise<string>;
  /** Ends the text with what there is; `result` has it, with `finish: "cancelled"`. */
  cancel(): void;
}
