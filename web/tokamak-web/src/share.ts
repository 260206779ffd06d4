// One engine for several tabs of an origin. Whoever has the lock of that engine has its Worker, and serves the others over a
// BroadcastChannel (share_hub.ts). The others wait for the lock: it is free when the tab that had it has gone, in whichever way, and the
// next one opens the model again. Docs: docs/decisions/0126-one-engine-for-several-tabs.md.
import type { WorkerLike } from "./connection.ts";
import { type ErrorData, type TokamakError, errorData, errorFrom, movedError } from "./errors.ts";
import type { ToPage, ToWorker } from "./protocol.ts";
import { Hub } from "./share_hub.ts";
import { Line } from "./share_line.ts";

/** The messages between tabs. Every Worker has a hub of its own; of two the one that began later counts. */
type Across =
  /** A tab looks for the hub, which answers with its name. */
  | { kind: "who" }
  | { kind: "hub"; hub: string; since: number }
  | { kind: "to"; hub: string; tab: string; message: ToWorker }
  | { kind: "from"; hub: string; tab: string; message: ToPage }
  | { kind: "leave"; hub: string; tab: string }
  | { kind: "ping"; hub: string; tab: string }
  | { kind: "pong"; hub: string; tab: string }
  | { kind: "stopped"; hub: string; error: ErrorData }
  /** The hub's tab is being closed. */
  | { kind: "closing"; hub: string };

/** The parts of the browser that are used, so that tests can stand in for them. */
export interface ShareHost {
  locks: {
    request(name: string, options: LockOptions, held: (lock: unknown) => Promise<void> | void): Promise<unknown>;
    query(): Promise<LockManagerSnapshot>;
  };
  channel(name: string): { postMessage(message: unknown): void; close(): void; onmessage: ((event: MessageEvent) => void) | null };
  /** Has `pagehide`. */
  page: Pick<EventTarget, "addEventListener" | "removeEventListener"> | undefined;
  now(): number;
}

/** Between two looks at whether the owner answers, and the silence after which it does not, in milliseconds. */
const LOOK_MS = 2000;
const SILENT_MS = 10_000;

export class Share {
  readonly #host: ShareHost;
  readonly #name: string;
  readonly #begin: () => WorkerLike;
  readonly #script: string;
  readonly #tab = crypto.randomUUID();
  readonly #channel: ReturnType<ShareHost["channel"]>;
  /** Gives back the lock of the engine, where this tab has it, and that of the tab. */
  #release: (() => void) | null = null;
  #releaseTab: (() => void) | null = null;
  /** Ends waiting for the lock of the engine, and for those of other tabs. */
  #wait = new AbortController();
  readonly #over = new AbortController();
  /** The own hub, and the name of the one that the line leads to. */
  #hub: Hub | null = null;
  #hubs = 0;
  #found: string | null = null;
  #since = 0;
  #isClosing = false;
  #line: Line | null = null;
  #heard = 0;
  #looked = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  private constructor(name: string, begin: () => WorkerLike, script: string, host: ShareHost) {
    this.#host = host;
    this.#name = name;
    this.#begin = begin;
    this.#script = script;
    this.#channel = host.channel(name);
    this.#channel.onmessage = ({ data }: MessageEvent<Across>) => this.#receive(data);
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
    host.page?.addEventListener("pagehide", this.#leaving);
  }

  /** Takes part in the engine of that name: with the Worker that `begin` starts, or another tab's. Undefined where locks are refused. */
  static async enter(name: string, begin: () => WorkerLike, script: string, host: ShareHost): Promise<Share | undefined> {
    const share = new Share(name, begin, script, host);
    // Held for as long as this tab is there: the hub waits for it.
    share.#releaseTab = await share.#hold(share.#lockOf(share.#tab), {});
    if (!share.#releaseTab) return void share.end(); // nobody else asks for that one
    if (!(await share.#take({ ifAvailable: true }))) share.#queue();
    return share;
  }

  /** Whether a tab has an engine of that name. */
  static async exists(name: string, { locks }: ShareHost): Promise<boolean> {
    const { held = [] } = await locks.query();
    return held.some((lock) => lock.name === name);
  }

  get isOwner(): boolean {
    return this.#release !== null;
  }

  /** The line that a connection has in a Worker's place; called again where it has ended. */
  start(): WorkerLike {
    const line = new Line((ended) => this.#left(ended));
    this.#line = line;
    this.#bind(line);
    return line;
  }

  /** Leads the line to the hub, as soon as one is known. */
  #bind(line: Line): void {
    this.#heard = this.#host.now();
    if (this.#release) {
      const hub = (this.#hub ??= this.#newHub());
      const post = (message: ToPage) => queueMicrotask(() => line.receive(message)); // as a Worker's, which come once there are listeners
      hub.join(this.#tab, { post, stopped: (error) => line.stopped(error) });
      line.bind((message) => hub.receive(this.#tab, message));
    } else if (this.#found !== null) {
      const hub = this.#found;
      line.bind((message) => this.#post({ kind: "to", hub, tab: this.#tab, message }));
    } else {
      this.#post({ kind: "who" });
    }
  }

  #newHub(): Hub {
    this.#hubs += 1;
    const name = `${this.#tab} ${this.#hubs}`;
    const hub = new Hub(this.#begin(), this.#script, (error) => {
      this.#hub = this.#found = null;
      this.#post({ kind: "stopped", hub: name, error: errorData(error) });
      if (this.#line === null) this.end();
    });
    this.#found = name;
    this.#since = this.#host.now();
    this.#post({ kind: "hub", hub: name, since: this.#since });
    return hub;
  }

  #receive(message: Across): void {
    if (message.kind === "hub") return this.#foundHub(message);
    const isOwn = "hub" in message && message.hub === this.#found;
    if (this.#hub) return this.#serve(this.#hub, message, isOwn);
    if (!isOwn) return;
    if ("tab" in message && message.tab !== this.#tab) return;
    this.#heard = this.#host.now();
    if (message.kind === "from") this.#line?.receive(message.message);
    if (message.kind === "closing") this.#isClosing = true;
    if (message.kind === "stopped") {
      this.#found = null;
      this.#line?.stopped(errorFrom(message.error));
    }
  }

  /** The hub's side. */
  #serve(hub: Hub, message: Across, isOwn: boolean): void {
    const name = this.#found!;
    if (message.kind === "who") this.#post({ kind: "hub", hub: name, since: this.#since });
    if (!isOwn || !("tab" in message)) return;
    const { tab } = message;
    if (message.kind === "ping") this.#post({ kind: "pong", hub: name, tab });
    if (message.kind === "leave") this.#leave(hub, tab);
    if (message.kind !== "to") return;
    if (!hub.has(tab)) {
      hub.join(tab, {
        post: (answer) => this.#post({ kind: "from", hub: name, tab, message: answer }),
        stopped: () => undefined, // it has that from the channel
      });
      void this.#hold(this.#lockOf(tab), { signal: this.#over.signal }).then((release) => {
        release?.();
        this.#leave(hub, tab);
      });
    }
    hub.receive(tab, message.message);
  }

  #leave(hub: Hub, tab: string): void {
    hub.leave(tab);
    if (hub === this.#hub && this.#line === null && hub.tabs === 0) this.end();
  }

  #foundHub({ hub: name, since }: Extract<Across, { kind: "hub" }>): void {
    if (this.#release || (this.#found !== null && since < this.#since)) return; // of a tab that was suspended, and does not know
    const before = this.#found;
    this.#found = name;
    this.#since = since;
    this.#isClosing = false;
    this.#heard = this.#host.now();
    if (before === name || !this.#line) return;
    if (before === null) this.#bind(this.#line);
    else this.#gone(movedError("Another tab has the model now."));
  }

  /** The hub that the line led to is there no more. An opening begins anew by itself; of other calls the connection learns. */
  #gone(error: TokamakError): void {
    const line = this.#line;
    if (!line) return;
    if (line.rewind()) this.#bind(line);
    else line.stopped(error);
  }

  /** Waits for the lock, and takes over once it is there. */
  #queue(): void {
    this.#wait = new AbortController();
    void this.#take({ signal: this.#wait.signal }).then((isOwner) => isOwner && this.#takeOver());
    this.#post({ kind: "who" });
  }

  #takeOver(): void {
    this.#found = null;
    if (!this.#line) return this.end();
    const text = "The tab that had the model";
    this.#gone(this.#isClosing ? movedError(`${text} was closed.`) : errorFrom({ code: "crashed", message: `${text} has ended.` }));
  }

  /** The owner may have been suspended by the browser, which frees no lock. */
  #look(): void {
    const now = this.#host.now();
    const wasSuspended = now - this.#looked > 2 * LOOK_MS; // this tab itself, which then knows nothing of the owner
    this.#looked = now;
    if (this.#release || !this.#line?.isWaiting) return void (this.#heard = now); // nothing is due from an owner
    if (wasSuspended) this.#heard = now;
    if (now - this.#heard <= SILENT_MS) return this.#post(this.#found === null ? { kind: "who" } : { kind: "ping", hub: this.#found, tab: this.#tab });
    this.#heard = now;
    this.#wait.abort();
    this.#isClosing = true;
    void this.#take({ steal: true }).then((isOwner) => isOwner && this.#takeOver());
  }

  /** Takes the lock of the engine; false where it cannot be had. */
  async #take(how: LockOptions): Promise<boolean> {
    const release = await this.#hold(this.#name, how, () => this.#deposed());
    if (!release) return false;
    if (this.#over.signal.aborted) {
      release();
      return false;
    }
    this.#release = release;
    return true;
  }

  /** Another tab has taken the lock, since this one did not answer. */
  #deposed(): void {
    if (!this.#release) return;
    this.#release = null;
    this.#hub?.end();
    this.#hub = this.#found = null;
    if (!this.#line) return this.end();
    this.#queue();
    this.#gone(movedError("This tab was suspended, and another one has the model now."));
  }

  /** Gives back a lock by what comes of it; `lost` is called where it is taken away. */
  #hold(name: string, how: LockOptions, lost = (): void => undefined): Promise<(() => void) | null> {
    return new Promise((resolve) => {
      let isHeld = false;
      const held = (lock: unknown) => {
        if (lock === null) return resolve(null);
        isHeld = true;
        return new Promise<void>((release) => resolve(release));
      };
      this.#host.locks.request(name, how, held).catch(() => (isHeld ? lost() : resolve(null)));
    });
  }

  readonly #lockOf = (tab: string): string => `${this.#name} ${tab}`;

  readonly #leaving = (event: Event): void => {
    if ((event as PageTransitionEvent).persisted) return; // it may come back
    if (this.#hub) this.#post({ kind: "closing", hub: this.#found! });
    else if (this.#found !== null) this.#post({ kind: "leave", hub: this.#found, tab: this.#tab });
  };

  /** The connection has ended the line: for good, unless it starts another one at once. */
  #left(line: Line): void {
    if (this.#hub) this.#hub.leave(this.#tab);
    else if (this.#found !== null && !this.#release) this.#post({ kind: "leave", hub: this.#found, tab: this.#tab });
    queueMicrotask(() => {
      if (this.#line !== line) return;
      this.#line = null;
      if (!this.#hub || this.#hub.tabs === 0) this.end(); // others go on with it until this tab is closed
    });
  }

  /** Leaves the engine to the other tabs. */
  end(): void {
    if (this.#over.signal.aborted) return;
    this.#over.abort();
    this.#wait.abort();
    this.#hub?.end();
    this.#release?.();
    this.#releaseTab?.();
    clearInterval(this.#timer);
    this.#host.page?.removeEventListener("pagehide", this.#leaving);
    this.#channel.close();
  }

  #post(message: Across): void {
    if (!this.#over.signal.aborted) this.#channel.postMessage(message);
  }
}
