// Conversations by voice, over engines and a loop that the test plays: who does what when, and what an interruption ends.
import { expect, test, vi } from "vitest";
import type { Engine, GenerateOptions, Message, Piece, SpeakOptions, TalkEvent, TalkState, TranscribeOptions } from "../src/api.ts";
import { TokamakError } from "../src/errors.ts";
import { Resampler } from "../src/resampler.ts";
import { talk } from "../src/talk.ts";
import { soon } from "./fakes.ts";

/** However slow the machine is. */
const until = (check: () => void) => vi.waitFor(check, { interval: 1, timeout: 4000 });

const LISTEN: TalkState = { task: "listen", idle: true };
const RATE = 1000;

/** A loudspeaker of which the test says how much has been played. */
class Loudspeaker {
  samples = 0;
  heard = 0;
  stops = 0;

  play(samples: Float32Array): void {
    this.samples += samples.length;
  }
  stop(): void {
    this.stops += 1;
    this.samples = 0;
    this.heard = 0;
  }
  played(): number {
    return this.heard;
  }
}

/** The messages to the model, and the pieces that it answers in; each waits for `go`. */
function fakes(answer: string[], { context = 100, silent = false } = {}) {
  const asked: Message[][] = [];
  const calls: [string, unknown][] = [];
  const ended: string[] = [];
  /** The states for the next calls of `listen`. */
  const states: (TalkState & { utterance?: Float32Array; taken?: number })[] = [];
  let transcript: Promise<string> = Promise.resolve("What time is it?");
  let question = "";
  const cancelled = (signal: AbortSignal | undefined, what: string) =>
    new Promise<never>((_, reject) => {
      const stop = () => {
        ended.push(what);
        reject(new TokamakError("cancelled", what));
      };
      if (signal?.aborted) stop();
      signal?.addEventListener("abort", stop);
    });
  const engine = {
    model: { name: "fake", hears: true, speaks: true, hasTemplate: true, context },
    soundRate: RATE,
    transcribe: async (_: Float32Array, { signal }: TranscribeOptions) =>
      ({ text: await Promise.race([transcript, cancelled(signal, "transcribe")]) }),
    render: async (messages: Message[]) => messages.map(({ content }) => content).join(" "),
    tokenize: async (text: string) => new Uint32Array(text.length),
    chat: (messages: Message[], { signal }: GenerateOptions) => {
      asked.push(structuredClone(messages));
      const over = cancelled(signal, "chat");
      over.catch(() => {});
      return {
        result: Promise.resolve({}),
        async *[Symbol.asyncIterator](): AsyncGenerator<Piece> {
          for (const text of answer) {
            await soon(1);
            if (signal?.aborted) return;
            yield { text, ids: [1] };
          }
        },
      };
    },
    speak: async (text: AsyncIterable<string>, { signal, onPiece, onSamples }: SpeakOptions) => {
      const said = async () => {
        for await (const part of text) {
          if (silent) continue;
          onPiece?.(part);
          onSamples?.(new Float32Array(100), RATE);
          onSamples?.(new Float32Array(50), RATE);
        }
        if (silent) throw new TokamakError("invalid-input", "The text has nothing to say.");
        return {};
      };
      return Promise.race([said(), cancelled(signal, "speak")]);
    },
    talkLoop: async (options: object) => {
      calls.push(["begin", options]);
      return {
        listen: async (samples: Float32Array, played: number) => {
          calls.push(["listen", [samples.length, played]]);
          const state = states.shift() ?? (question ? { task: "answer", idle: false, question } : LISTEN);
          if (state.task !== "answer") question = "";
          return { taken: samples.length, ...state };
        },
        heard: async (text: string) => {
          calls.push(["heard", text]);
          question = text;
          return { task: "answer", idle: false, question };
        },
        answer: async (more: { stop?: number }) => {
          calls.push(["answer", more]);
          if (more.stop === undefined) return { task: "answer", idle: false, question };
          question = "";
          return { ...LISTEN, turn: { question: "What time is it?", answer: "It is", interrupted: true } };
        },
      };
    },
  } as unknown as Engine;
  const wait = (until: Promise<string>) => void (transcript = until);
  return { engine, asked, calls, ended, states, wait };
}

async function begun(given: ReturnType<typeof fakes>, options: object = {}) {
  const { engine } = given;
  const loudspeaker = new Loudspeaker();
  const conversation = await talk({ listener: engine, answerer: engine, speaker: engine, loudspeaker, ...options });
  const events: TalkEvent[] = [];
  const over = (async () => {
    for await (const event of conversation) events.push(event);
  })();
  const kinds = () => events.map((event) => (event.kind === "phase" ? event.phase : event.kind));
  return { conversation, loudspeaker, events, kinds, over };
}

const utterance = { task: "transcribe", idle: false, utterance: new Float32Array(8) } as const;

test("a question is written down, answered and said, and the turn is kept", async () => {
  const given = fakes(["It is late.", " Very late."]);
  const { conversation, loudspeaker, events, kinds, over } = await begun(given, { system: "Be short.", pause: 1, mayInterrupt: false });
  expect(given.calls).toEqual([["begin", { rate: RATE, pause: 1, interruptions: false }]]);
  given.states.push({ task: "listen", idle: false }, utterance);
  conversation.listen(new Float32Array(160));
  await until(() => expect(given.states.length).toBe(1));
  conversation.listen(new Float32Array(320));
  const told = () => given.calls.filter(([name]) => name === "answer").map(([, more]) => more);
  await until(() =>
    expect(told()).toEqual([
      { samples: 100, piece: "It is late." }, { samples: 50 },
      { samples: 100, piece: " Very late." }, { samples: 50 },
      { text: "It is late. Very late.", end: true },
    ]),
  );
  expect(given.asked).toEqual([[{ role: "system", content: "Be short." }, { role: "user", content: "What time is it?" }]]);
  expect(loudspeaker.samples).toBe(300);
  loudspeaker.heard = 300;
  given.states.push({ ...LISTEN, turn: { question: "What time is it?", answer: "It is late. Very late.", interrupted: false } });
  // Without a microphone, time passes as well.
  await until(() => expect(given.calls.at(-1)).toEqual(["listen", [0, 300]]));
  await until(() => expect(kinds().at(-1)).toBe("listening"));
  conversation.close();
  await over;
  expect(kinds()).toEqual(["listening", "hearing", "transcribing", "question", "thinking", "text", "sound", "speaking", "text", "end", "listening"]);
  expect(events.at(-2)).toMatchObject({ turn: { answer: "It is late. Very late.", interrupted: false } });
  expect(conversation.messages.at(-1)).toEqual({ role: "assistant", content: "It is late. Very late." });
});

test("an interruption ends what is written and what is said, and only what was heard is kept", async () => {
  const given = fakes(Array<string>(50).fill("It is late."));
  const { conversation, loudspeaker, kinds, events } = await begun(given);
  conversation.ask("What time is it?");
  await until(() => expect(kinds()).toContain("speaking"));
  const { stops } = loudspeaker;
  loudspeaker.heard = 60;
  given.states.push({ task: "listen", idle: false, turn: { question: "What time is it?", answer: "It is", interrupted: true } });
  conversation.listen(new Float32Array(512));
  await until(() => expect(given.ended.sort()).toEqual(["chat", "speak"]));
  await until(() => expect(kinds().at(-1)).toBe("hearing"));
  expect([loudspeaker.stops, loudspeaker.samples]).toEqual([stops + 1, 0]);
  expect(events.at(-2)).toMatchObject({ kind: "end", turn: { answer: "It is", interrupted: true } });
  expect(conversation.messages).toEqual([{ role: "user", content: "What time is it?" }, { role: "assistant", content: "It is" }]);
  const { length } = given.calls;
  await soon(20);
  expect(given.calls.slice(length)).toEqual([]); // nothing late of the old answer reaches the loop
  conversation.close();
});

test("who goes on before the text is there is heard to the end", async () => {
  const given = fakes(["Hm."]);
  let write = (_: string) => {};
  given.wait(new Promise((resolve) => (write = resolve)));
  const { conversation, kinds } = await begun(given);
  given.states.push(utterance);
  conversation.listen(new Float32Array(160));
  await until(() => expect(kinds()).toContain("transcribing"));
  given.states.push({ task: "listen", idle: false });
  conversation.listen(new Float32Array(160));
  await until(() => expect(given.ended).toEqual(["transcribe"]));
  write("What time");
  await soon();
  expect(given.calls.some(([name]) => name === "heard")).toBe(false);
  conversation.close();
});

test("what the loop has not taken comes again", async () => {
  const given = fakes(["Hm."]);
  const { conversation } = await begun(given);
  given.states.push({ ...utterance, taken: 100 });
  conversation.listen(new Float32Array(160));
  await until(() => expect(given.calls.slice(1, 3)).toEqual([["listen", [160, 0]], ["listen", [60, 0]]]));
  conversation.close();
});

test("a typed question ends the answer before it, and the oldest ones are forgotten", async () => {
  const given = fakes(Array<string>(50).fill("Late."), { context: 44 });
  const messages: Message[] = [{ role: "user", content: "a".repeat(30) }, { role: "assistant", content: "b" }];
  const { conversation, kinds } = await begun(given, { messages });
  conversation.ask("What time is it?");
  await until(() => expect(given.asked.length).toBe(1));
  conversation.ask("And now?");
  await until(() =>
    expect(given.asked).toEqual([
      [{ role: "user", content: "What time is it?" }],
      [{ role: "user", content: "What time is it?" }, { role: "assistant", content: "It is" }, { role: "user", content: "And now?" }],
    ]),
  );
  expect(given.calls.some(([, more]) => (more as { stop?: number }).stop === 0)).toBe(true);
  expect(kinds().filter((kind) => kind === "question" || kind === "end")).toEqual(["question", "end", "question"]);
  conversation.stop();
  await until(() => expect(kinds().at(-1)).toBe("listening"));
  conversation.close();
});

test("an answer without a letter is silent, and an engine that fails ends the conversation with its error", async () => {
  const silent = fakes(["..."], { silent: true });
  const one = await begun(silent);
  one.conversation.ask("Well?");
  await until(() => expect(silent.calls.filter(([name]) => name === "answer")).toEqual([["answer", { text: "...", end: true }]]));
  one.conversation.close();

  const failing = fakes(["Late."]);
  failing.wait(Promise.reject(new TokamakError("device-lost", "The device is lost.")));
  const { conversation, over } = await begun(failing);
  failing.states.push(utterance);
  conversation.listen(new Float32Array(160));
  await expect(over).rejects.toMatchObject({ code: "device-lost" });
});

test("models that are not for it are refused", async () => {
  const { engine } = fakes([]);
  const other = (model: object, more: object = {}) => ({ ...engine, ...more, model: { ...engine.model, ...model } }) as Engine;
  const all = { listener: engine, answerer: engine, speaker: engine, loudspeaker: new Loudspeaker() };
  await expect(talk({ ...all, listener: other({ hears: false }) })).rejects.toThrow("fake does not hear");
  await expect(talk({ ...all, answerer: other({ hasTemplate: false }) })).rejects.toThrow("no chat template");
  await expect(talk({ ...all, speaker: other({}, { soundRate: 0 }) })).rejects.toThrow("without a codec");
});

test.each([48_000, 44_100, 8000])("%i samples a second become 16,000, without those that would be heard as others", (rate) => {
  const loudness = (frequency: number) => {
    const resampler = new Resampler(rate);
    const out: number[] = [];
    for (let at = 0; at < rate; at += 1024) {
      out.push(...resampler.add(Float32Array.from({ length: 1024 }, (_, i) => Math.sin((2 * Math.PI * frequency * (at + i)) / rate))));
    }
    expect(Math.abs(out.length - 16_000)).toBeLessThan(1100);
    const inner = out.slice(200, -200);
    return { inner, power: inner.reduce((sum, one) => sum + one * one, 0) / inner.length };
  };
  const { inner, power } = loudness(440);
  expect(power).toBeCloseTo(0.5, 2);
  for (const [i, one] of inner.entries()) expect(one).toBeCloseTo(Math.sin((2 * Math.PI * 440 * (i + 200)) / 16_000), 2);
  if (rate > 20_000) expect(loudness(9000).power).toBeLessThan(1e-4);
});
