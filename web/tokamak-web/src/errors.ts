// The errors, with a code that a program can act on.

export const ERROR_CODES = [
  "usage", // a value that the API does not take
  "invalid-input", // a model or a text that is not what it should be
  "unsupported", // a model, an option or a browser that the engine does not know
  "device", // WebGPU has refused or failed
  "device-lost", // and could not be opened again
  "out-of-memory", // of the device or of the module
  "cancelled",
  "internal", // a mistake of the engine
  "network",
  "quota", // the browser's storage is full
  "hash", // downloaded bytes are not the ones that were asked for
  "crashed", // the module or its Worker has stopped; open the model again
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

export class TokamakError extends Error {
  override readonly name = "TokamakError";
  readonly code: ErrorCode;
  /** Numbers and names that the message has as well. */
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, message: string, details?: Record<string, unknown>) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** The part of an error that can be posted. */
export interface ErrorData {
  code: ErrorCode;
  message: string;
  details?: Record<string, unknown>;
}

/** An error of any kind as data; what has no code of its own gets `code`. */
export function errorData(error: unknown, code: ErrorCode = "internal"): ErrorData {
  if (error instanceof TokamakError) {
    const { message, details } = error;
    return { code: error.code, message, ...(details && { details: { ...details } }) };
  }
  if (error instanceof Error) {
    return { code: error.name === "AbortError" ? "cancelled" : code, message: error.message };
  }
  return { code, message: String(error) };
}

/** Back from data; a code that is not known, of a newer module, counts as internal. */
export function errorFrom({ code, message, details }: ErrorData): TokamakError {
  return new TokamakError(ERROR_CODES.includes(code) ? code : "internal", message, details);
}

/** The Worker has gone with the tab that had it, through no fault of a call: whatever was in flight may be asked of the next one. */
export const movedError = (message: string): TokamakError => new TokamakError("crashed", message, { moved: true });

export const isMoved = ({ details }: TokamakError): boolean => details?.["moved"] === true;
