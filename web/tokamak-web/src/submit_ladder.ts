// How much work the GPU is given at a time. Some devices do not survive long submissions: the driver takes the device
// away, or the whole tab ends. Before a start and before each text's first token a note is written, and afterwards it is
// cleared; one that is found at the next start tells of a tab that ended in between, and the work is cut smaller.
//
// The note is in localStorage, which is written at once and asked by the page alone: it knows when a visitor leaves.

/** Dispatches of a submission; 0: all of a step. */
export const SUBMIT_STEPS = [0, 64, 8, 1] as const;
const KEY = "tokamak.submit";
/** Held during an attempt: a tab that still has it has not ended. */
const LOCK = "tokamak:attempt";

interface Note {
  /** Another version may do better. */
  browser: string;
  /** The index in SUBMIT_STEPS. */
  step: number;
  isTrying: boolean;
}

/** The parts of the browser that are used. */
export interface LadderHost {
  storage: Pick<Storage, "getItem" | "setItem"> | undefined;
  locks: Pick<LockManager, "request" | "query"> | undefined;
  browser: string;
  /** Hears `pagehide` and `visibilitychange`. */
  page: Pick<EventTarget, "addEventListener"> | undefined;
  isHidden(): boolean;
}

export class SubmitLadder {
  readonly #host: LadderHost;
  #attempts = 0;
  #hasLeft = false;

  constructor(host: LadderHost) {
    this.#host = host;
    // A tab that is closed or killed while nobody looks at it has not ended by what it did.
    host.page?.addEventListener("pagehide", () => this.#leave(true));
    host.page?.addEventListener("visibilitychange", () => this.#leave(host.isHidden()));
  }

  /** Dispatches of a submission for the next start, and whether the last one is the reason that they are fewer. */
  async begin(): Promise<{ dispatches: number; isLowered: boolean }> {
    const isLowered = this.#read().isTrying && !(await this.#isAnyoneTrying()) && this.lower();
    return { dispatches: this.dispatches, isLowered };
  }

  /** Smaller steps from now on; false where there are none. */
  lower(): boolean {
    const { step } = this.#read();
    if (step + 1 >= SUBMIT_STEPS.length) return false;
    this.#write(step + 1);
    return true;
  }

  get dispatches(): number {
    return SUBMIT_STEPS[this.#read().step]!;
  }

  /** Notes that something begins which the tab may not survive; what it returns says that it has, once. */
  attempt(): () => void {
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    this.#host.locks?.request(LOCK, { mode: "shared" }, () => held).catch(() => {});
    this.#count(+1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      release();
      this.#count(-1);
    };
  }

  #count(change: number): void {
    this.#attempts += change;
    this.#write(this.#read().step);
  }

  #leave(hasLeft: boolean): void {
    if (this.#hasLeft === hasLeft) return;
    this.#hasLeft = hasLeft;
    if (this.#attempts > 0) this.#write(this.#read().step);
  }

  async #isAnyoneTrying(): Promise<boolean> {
    const { held = [] } = (await this.#host.locks?.query()) ?? {};
    return held.some(({ name }) => name === LOCK);
  }

  #read(): Note {
    const { storage, browser } = this.#host;
    try {
      const note = JSON.parse(storage?.getItem(KEY) ?? "null") as Note | null;
      if (note?.browser === browser && note.step in SUBMIT_STEPS) return note;
    } catch {
      // as if there were none
    }
    return { browser, step: 0, isTrying: false };
  }

  #write(step: number): void {
    const { storage, browser } = this.#host;
    const note: Note = { browser, step, isTrying: this.#attempts > 0 && !this.#hasLeft };
    try {
      storage?.setItem(KEY, JSON.stringify(note));
    } catch {
      // A full storage: the next start knows nothing of this one.
    }
  }
}

let own: SubmitLadder | undefined;

/** This page's. */
export function submitLadder(): SubmitLadder {
  own ??= new SubmitLadder({
    storage: localStorageHere(),
    locks: globalThis.navigator?.locks,
    browser: globalThis.navigator?.userAgent ?? "",
    page: globalThis.document && globalThis,
    isHidden: () => document.visibilityState === "hidden",
  });
  return own;
}

/** Asking for it fails where a page may store nothing, and Workers have none. */
function localStorageHere(): Storage | undefined {
  try {
    return globalThis.localStorage;
  } catch {
    return undefined;
  }
}
