// The errors, with a code that a program can act on: the codes of tokamak/c.h, spelled as tokamak-web has them.

export const ERROR_CODES = [
  "usage", // an argument or an option is wrong
  "invalid-input", // a file, a prompt or a message is wrong
  "unsupported", // well-formed, but not something this engine runs
  "device", // no device, a refused driver
  "device-lost", // a device that worked is gone, with what was on it
  "out-of-memory", // host or device memory
  "cancelled", // by a signal, or by closing
  "internal", // a mistake of the package
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

export class TokamakError extends Error {
  override readonly name = "TokamakError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
