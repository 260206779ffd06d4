// How the module waits for promises. It blocks, so that where it waits it has to be suspended: by the
// browser's JavaScript Promise Integration, or by code that Binaryen's Asyncify has put into a twin of
// the module.
import { TokamakError } from "../errors.ts";
import { Asyncify } from "./asyncify.ts";

/** A function that the module imports. */
export type Import = (...values: number[]) => number | void;
/** A function of the module, or one that it imports, that may suspend it. */
export type Export = (...values: number[]) => number;
export type SuspendingImport = (...values: number[]) => number | void | Promise<number | void>;

export interface Waiting {
  readonly kind: "jspi" | "asyncify";
  /** The import in place of `wait`; a promise suspends the module, any other value does not. */
  suspending(wait: SuspendingImport): WebAssembly.ImportValue;
  /** Called once, after the module is instantiated and before it runs. */
  attach(exports: WebAssembly.Exports): void;
  /** The export as a function whose promise settles when it returns or traps. */
  promising(run: Export): (...values: number[]) => Promise<number>;
}

interface PromiseIntegration {
  Suspending?: new (wait: SuspendingImport) => object;
  promising?: (run: Export) => (...values: number[]) => Promise<number>;
}

/** JavaScript Promise Integration, where the browser has it. */
export function jspi(): Waiting | null {
  const { Suspending, promising } = WebAssembly as PromiseIntegration;
  if (!Suspending || !promising) return null;
  return {
    kind: "jspi",
    suspending: (wait) => new Suspending(wait) as WebAssembly.ImportValue,
    attach: () => {},
    promising: (run) => promising(run),
  };
}

/** The way that was asked for, or the best there is; fails with `unsupported`. */
export function chooseWaiting(asked?: Waiting["kind"]): Waiting {
  const own = asked === "asyncify" ? null : jspi();
  const found = own ?? (asked === "jspi" ? null : new Asyncify());
  if (found) return found;
  throw new TokamakError(
    "unsupported",
    "This browser cannot suspend WebAssembly (JavaScript Promise Integration); it takes Chrome 137, " +
      "Firefox 153, Safari 27 or a newer one.",
  );
}
