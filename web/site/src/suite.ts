// Prompts whose greedy answers were recorded by another program, and what this device makes of them.
import type { Engine } from "tokamak-web";

export interface Golden {
  kind: "text" | "chat" | "ids";
  prompt: string;
  promptIds: number[];
  /** The answer's tokens, each the most probable one. */
  ids: number[];
  /** Whether the last of them is one that ends the answer. */
  ends: boolean;
  /** By how much each was ahead of the second one, in logits. */
  margins: number[];
}

export interface Outcome {
  golden: Golden;
  /** Absent where it was left out, or failed. */
  found?: number[];
  /** Tokens of the prompt, where they are not as recorded. */
  promptTokens?: number;
  /** Which of the answer's tokens is the first that differs. */
  differsAt?: number;
  seconds?: number;
  error?: string;
  skipped?: string;
}

/** The recorded answers of the models that have some, by the names that the pages use. */
export async function readGoldens(): Promise<Record<string, Golden[]>> {
  const reply = await fetch("./goldens.json");
  if (!reply.ok) throw new Error(`The recorded answers could not be read (${reply.status}).`);
  return (await reply.json()) as Record<string, Golden[]>;
}

/** The first place where the lists differ, a shorter one where it ends; undefined: nowhere. */
export function firstDifference(expected: number[], found: number[]): number | undefined {
  const length = Math.max(expected.length, found.length);
  for (let at = 0; at < length; at += 1) if (expected[at] !== found[at]) return at;
  return undefined;
}

export const isRight = (outcome: Outcome) =>
  outcome.found !== undefined && outcome.differsAt === undefined && outcome.promptTokens === undefined;
export const isWrong = (outcome: Outcome) => !isRight(outcome) && outcome.skipped === undefined;

/** Continues the prompt as greedily as the recording was made; `told` gets the tokens as they come. Fails only where it is cancelled. */
export async function runGolden(engine: Engine, golden: Golden, signal: AbortSignal, told: (ids: number[]) => void): Promise<Outcome> {
  const { kind, prompt, promptIds, ids } = golden;
  const options = { maxTokens: ids.length, temperature: 0, repetitionPenalty: 1, signal };
  const started = performance.now();
  try {
    const run =
      kind === "chat"
        ? engine.chat([{ role: "user", content: prompt }], options)
        : engine.generate(kind === "ids" ? promptIds : prompt, options);
    for await (const piece of run) told(piece.ids);
    const result = await run.result;
    signal.throwIfAborted();
    // An answer that goes on, or ends, where the recorded one does not differs after its last token.
    const endsRight = (result.finish === "end") === golden.ends;
    const differsAt = firstDifference(ids, result.ids) ?? (endsRight ? undefined : ids.length);
    return {
      golden,
      found: result.ids,
      seconds: (performance.now() - started) / 1000,
      ...(differsAt !== undefined && { differsAt }),
      ...(result.promptTokens !== promptIds.length && { promptTokens: result.promptTokens }),
    };
  } catch (error) {
    if (signal.aborted) throw error;
    return { golden, error: error instanceof Error ? error.message : String(error) };
  }
}

/** The result of `engine.selfTest()`. */
