// OpenAI's requests with sound, which the module's protocol does not take: recordings that the browser decodes, and
// texts that are said. What a server answers stands in docs/audio.md.
import type { Engine, TranscribeOptions } from "./api.ts";
import type { TokamakError } from "./errors.ts";
import { WavWriter } from "./wav.ts";

export type SoundEngine = Pick<Engine, "transcribe" | "speak">;

/** A request that is wrong in the field `param`. */
class Refusal extends Error {
  readonly param: string;

  constructor(param: string, message: string) {
    super(message);
    this.param = param;
  }
}

const FAULTS_OF_REQUESTS = ["usage", "invalid-input", "unsupported"];

function errorAnswer(error: unknown): Response {
  const { message, code } = error as TokamakError;
  const isRequest = error instanceof Refusal || FAULTS_OF_REQUESTS.includes(code);
  const body = {
    error: {
      message,
      type: isRequest ? "invalid_request_error" : "server_error",
      param: error instanceof Refusal ? error.param : null,
      code: isRequest ? null : (code ?? null),
    },
  };
  return Response.json(body, { status: isRequest ? 400 : 500 });
}

const FORMATS: Record<string, { file: TranscribeOptions["format"]; type: string }> = {
  json: { file: undefined, type: "application/json" },
  verbose_json: { file: undefined, type: "application/json" },
  text: { file: "text", type: "text/plain; charset=utf-8" },
  srt: { file: "srt", type: "text/plain; charset=utf-8" },
  vtt: { file: "vtt", type: "text/vtt; charset=utf-8" },
};

function textOf(form: FormData, name: string): string | undefined {
  const value = form.get(name);
  return typeof value === "string" && value !== "" ? value : undefined;
}

async function transcribe(engine: SoundEngine, request: Request, translate: boolean): Promise<Response> {
  const form = await request.formData().catch(() => {
    throw new Refusal("file", "The body is no form with a file.");
  });
  const file = form.get("file");
  if (!(file instanceof Blob)) throw new Refusal("file", "file is missing, expected a recording.");
  if (textOf(form, "stream") === "true") throw new Refusal("stream", "stream is true, but transcripts come whole.");
  const name = textOf(form, "response_format") ?? "json";
  const format = FORMATS[name];
  if (!format) {
    throw new Refusal("response_format", `response_format is "${name}", expected ${Object.keys(FORMATS).join(", ")}.`);
  }
  const temperature = Number(textOf(form, "temperature") ?? 0);
  if (!(temperature >= 0 && temperature <= 1)) {
    throw new Refusal("temperature", "temperature is no number from 0 to 1.");
  }
  const [language, prompt] = [textOf(form, "language"), textOf(form, "prompt")];
  const { file: written = "", ...transcript } = await engine.transcribe(file, {
    translate,
    temperature,
    ...(language && { language }),
    ...(prompt && { prompt }),
    ...(format.file && { format: format.file }),
    signal: request.signal,
  });
  const json = name === "verbose_json" ? { task: translate ? "translate" : "transcribe", ...transcript } : { text: transcript.text };
  return new Response(format.file ? written : JSON.stringify(json), { headers: { "content-type": format.type } });
}

interface SpeechBody {
  input?: unknown;
  voice?: unknown;
  response_format?: unknown;
  speed?: unknown;
  language?: string;
  seed?: number;
  temperature?: number;
}

async function speak(engine: SoundEngine, request: Request): Promise<Response> {
  const body = (await request.json().catch(() => ({}))) as SpeechBody;
  if (typeof body.input !== "string") throw new Refusal("input", "input is missing, expected a text.");
  const { response_format: format = "wav", speed = 1 } = body;
  if (format !== "wav" && format !== "pcm") {
    throw new Refusal("response_format", `response_format is "${String(format)}", expected wav or pcm: a browser writes no other.`);
  }
  if (speed !== 1) throw new Refusal("speed", `speed is ${String(speed)}, but the model has one: 1.`);
  const writer = new WavWriter(format === "wav");
  const { language, seed, temperature } = body;
  let stream!: ReadableStreamDefaultController<Uint8Array>;
  const sound = new ReadableStream<Uint8Array>({ start: (controller) => void (stream = controller) });
  const begun = Promise.withResolvers<void>();
  const said = engine.speak(body.input, {
    // Names are those of OpenAI's voices, which clients must give: the model has its own.
    ...(Array.isArray(body.voice) && { speaker: body.voice as number[] }),
    ...(language !== undefined && { language }),
    ...(seed !== undefined && { seed }),
    ...(temperature !== undefined && { temperature }),
    signal: request.signal,
    onSamples: (samples, rate) => {
      stream.enqueue(writer.add(samples, rate));
      begun.resolve();
    },
  });
  said.then(
    () => {
      stream.close();
      begun.resolve();
    },
    (error: unknown) => {
      stream.error(error);
      begun.reject(error); // before the sound it is an answer
    },
  );
  await begun.promise;
  return new Response(sound, { headers: { "content-type": format === "wav" ? "audio/wav" : "audio/pcm" } });
}

/** The answer to a request with sound; null where it is another one. */
export async function answerSound(engine: SoundEngine, request: Request): Promise<Response | null> {
  const route = /^\/v1\/audio\/(transcriptions|translations|speech)$/.exec(new URL(request.url).pathname)?.[1];
  if (!route || request.method !== "POST") return null;
  try {
    return route === "speech" ? await speak(engine, request) : await transcribe(engine, request, route === "translations");
  } catch (error) {
    if ((error as TokamakError).code === "cancelled") throw error;
    return errorAnswer(error);
  }
}
