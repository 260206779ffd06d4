// The stand-ins for several tabs of a browser: locks and channels that they have in common, tabs that end or are suspended.
import type { ShareHost } from "../src/share.ts";

interface Held {
  name: string;
  tab: FakeTab;
  /** Takes the lock away. */
  lose(): void;
}

interface Queued {
  name: string;
  tab: FakeTab;
  grant(): void;
}

/** One lock for each name, exclusive; those who wait get it in their order. */
export class FakeBrowser {
  held: Held[] = [];
  queue: Queued[] = [];
  readonly tabs = new Set<FakeTab>();

  tab(): FakeTab {
    const tab = new FakeTab(this);
    this.tabs.add(tab);
    return tab;
  }

  isHeld(name: string): boolean {
    return this.held.some((one) => one.name === name);
  }

  /** Gives locks that are free to those who wait. */
  next(): void {
    for (const one of [...this.queue]) {
      if (this.isHeld(one.name)) continue;
      this.queue.splice(this.queue.indexOf(one), 1);
      one.grant();
    }
  }
}

export class FakeTab implements ShareHost {
  readonly #browser: FakeBrowser;
  readonly #channels = new Set<{ name: string; onmessage: ((event: MessageEvent) => void) | null }>();
  readonly page = new EventTarget();
  /** The kinds of messages that it has posted. */
  readonly posted: string[] = [];
  #later: (() => void)[] | null = null;
  #isOver = false;

  constructor(browser: FakeBrowser) {
    this.#browser = browser;
  }

  /** The number of channels that are open. */
  get channels(): number {
    return this.#channels.size;
  }

  readonly now = (): number => Date.now();

  /** Runs in this tab, in its turn; not while it is suspended, and never once it has ended. */
  run(what: () => void): void {
    if (this.#isOver) return;
    if (this.#later) this.#later.push(what);
    else setTimeout(() => (this.#later ? this.#later.push(what) : this.#isOver || what()));
  }

  readonly channel: ShareHost["channel"] = (name) => {
    const own = {
      name,
      onmessage: null as ((event: MessageEvent) => void) | null,
      postMessage: (message: unknown) => {
        if (this.#isOver) return;
        this.posted.push((message as { kind: string }).kind);
        const data = structuredClone(message);
        for (const tab of this.#browser.tabs) for (const other of tab.#channels) {
          if (other !== own && other.name === name) tab.run(() => other.onmessage?.(new MessageEvent("message", { data })));
        }
      },
      close: () => void this.#channels.delete(own),
    };
    this.#channels.add(own);
    return own;
  };

  readonly locks: ShareHost["locks"] = {
    query: async () => ({ held: this.#browser.held.map(({ name }) => ({ name })) }),
    request: (name, { ifAvailable, steal, signal }, held) =>
      new Promise((resolve, reject) => {
        const browser = this.#browser;
        const grant = () => {
          const own: Held = {
            name,
            tab: this,
            lose: () => {
              browser.held = browser.held.filter((one) => one !== own);
              this.run(() => reject(new DOMException("stolen", "AbortError")));
            },
          };
          browser.held.push(own);
          this.run(() => void Promise.resolve(held({ name })).then(() => {
            browser.held = browser.held.filter((one) => one !== own);
            resolve(undefined);
            browser.next();
          }));
        };
        if (steal) browser.held.find((one) => one.name === name)?.lose();
        if (!browser.isHeld(name)) return grant();
        if (ifAvailable) return this.run(() => resolve(held(null)));
        const waiting: Queued = { name, tab: this, grant };
        browser.queue.push(waiting);
        signal?.addEventListener("abort", () => {
          if (!browser.queue.includes(waiting)) return;
          browser.queue = browser.queue.filter((one) => one !== waiting);
          reject(signal.reason as Error);
        });
      }),
  };

  /** Ends as a tab that has crashed; `isClosed`: as one that its visitor closes. */
  end(isClosed: boolean): void {
    if (isClosed) this.page.dispatchEvent(new Event("pagehide"));
    this.#isOver = true;
    this.#browser.tabs.delete(this);
    this.#browser.held = this.#browser.held.filter(({ tab }) => tab !== this);
    this.#browser.queue = this.#browser.queue.filter(({ tab }) => tab !== this);
    this.#browser.next();
  }

  suspend(): void {
    this.#later = [];
  }

  resume(): void {
    const later = this.#later ?? [];
    this.#later = null;
    for (const what of later) this.run(what);
  }
}
