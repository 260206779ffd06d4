// OpenAI's requests with recordings, which are forms: the library's service takes JSON only.
import type { Engine, TranscribeOptions } from "./api.ts";
import { TokamakError } from "./errors.ts";

/** A field of a form that is not as it should be. */
class WrongField extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

type FileFormat = NonNullable<TranscribeOptions["format"]>;
const TYPES: Record<string, string> = {
  json: "application/json",
  verbose_json: "application/json",
  text: "text/plain; charset=utf-8",
  srt: "text/plain; charset=utf-8",
  vtt: "text/vtt; charset=utf-8",
};

function isFile(format: string): format is FileFormat {
  return format === "text" || format === "srt" || format === "vtt";
}

function field(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value : "";
}

function temperatureOf(form: FormData): number {
  const temperature = Number(field(form, "temperature"));
  if (temperature >= 0 && temperature <= 1) return temperature;
  throw new WrongField("temperature", `temperature is "${field(form, "temperature")}", expected a number from 0 to 1.`);
}

async function transcribed(engine: Pick<Engine, "transcribe">, request: Request, translate: boolean): Promise<Response> {
  const form = await request.formData().catch(() => {
    throw new WrongField("file", "The body is no form with a file.");
  });
  const file = form.get("file");
  if (!file || typeof file === "string") throw new WrongField("file", "file is missing, expected a recording.");
  if (field(form, "stream") === "true") throw new WrongField("stream", "stream is true, but transcripts come whole.");
  const format = field(form, "response_format") || "json";
  const type = TYPES[format];
  if (!type) throw new WrongField("response_format", `response_format is "${format}", expected ${Object.keys(TYPES).join(", ")}.`);
  const transcript = await engine.transcribe(file, {
    translate,
    temperature: temperatureOf(form),
    language: field(form, "language"),
    prompt: field(form, "prompt"),
    ...(isFile(format) && { format }),
    signal: request.signal,
  });
  const { file: text, ...facts } = transcript;
  const whole = format === "json" ? { text: facts.text } : { task: translate ? "translate" : "transcribe", ...facts };
  return new Response(isFile(format) ? (text ?? "") : JSON.stringify(whole), { headers: { "content-type": type } });
}

function errorAnswer(error: unknown): Response {
  const { message } = error as Error;
  const isOfRequest = !(error instanceof TokamakError) || ["usage", "invalid-input", "unsupported"].includes(error.code);
  const body = {
    message,
    type: isOfRequest ? "invalid_request_error" : "server_error",
    param: error instanceof WrongField ? error.field : null,
    code: isOfRequest ? null : (error as TokamakError).code,
  };
  return new Response(JSON.stringify({ error: body }), { status: isOfRequest ? 400 : 500, headers: { "content-type": "application/json" } });
}

/** The answer to a request with a recording; undefined where it is another one. */
export async function answerRecording(engine: Pick<Engine, "transcribe">, request: Request): Promise<Response | undefined> {
  const route = /^\/v1\/audio\/(transcriptions|translations)$/.exec(new URL(request.url).pathname)?.[1];
  if (!route || request.method !== "POST") return undefined;
  try {
    return await transcribed(engine, request, route === "translations");
  } catch (error) {
    if (error instanceof TokamakError && error.code === "cancelled") throw error;
    if (!(error instanceof TokamakError || error instanceof WrongField)) throw error;
    return errorAnswer(error);
  }
}
