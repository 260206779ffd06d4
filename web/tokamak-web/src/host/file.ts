// The imports "file": the module reads a model's files piece by piece, by numbers that stand for them.
import type { Memory } from "./memory.ts";
import type { SuspendingImport, Waiting } from "./waiting.ts";

/** Fills `into` with the bytes from `offset`, wholly, or fails. */
export type Read = (offset: number, into: Uint8Array) => void | Promise<void>;

export class Files {
  readonly #reads = new Map<number, Read>();
  #last = 0;
  #trouble = "";

  /** The file's number for the module. */
  add(read: Read): number {
    this.#last += 1;
    this.#reads.set(this.#last, read);
    return this.#last;
  }

  remove(number: number): void {
    this.#reads.delete(number);
  }

  /** Why the last read has failed. */
  get trouble(): string {
    return this.#trouble;
  }

  imports(memory: Memory, waiting: Pick<Waiting, "suspending">) {
    const fail = (error: unknown) => {
      this.#trouble = error instanceof Error ? error.message : String(error);
      return -1;
    };
    const read: SuspendingImport = (number = 0, offset = 0, address = 0, length = 0) => {
      try {
        const file = this.#reads.get(number);
        if (!file) throw new Error(`There is no file ${number}.`);
        const reading = file(offset, memory.bytes(address, length));
        return reading ? reading.then(() => 0, fail) : 0;
      } catch (error) {
        return fail(error);
      }
    };
    return {
      read: waiting.suspending(read),
      trouble: (address: number, capacity: number) =>
        memory.write(this.#trouble, address, capacity),
    };
  }
}
