// The model that the pages of this document have in common. One panel opens it, on whichever page is shown; who goes from one page
// to the next finds it open, with what its cache has.
import { type Engine, type Look, type OpenOptions, type Source, look, open } from "tokamak-web";
import { BUILTIN } from "./asked.ts";
import { showEngine, showLook, showNone, showOpening } from "./engine_line.ts";
import { type Extras, type Opener, opener } from "./opener.ts";
import { currentView } from "./view.ts";

export interface Model<T extends Look> {
  readonly own: T;
  readonly name: string;
  readonly source: Source;
}

/** A page with the model. */
export interface Member<T extends Look> extends Pick<Extras, "claims" | "progress" | "failed" | "closed"> {
  /** The panel's place; a page without one shows by itself how far an opening is. */
  place?: HTMLElement;
  /** Called with each model that is open while the page is shown, once. */
  opened(model: Model<T>): void;
  /** Called also while another page is shown. */
  isEager?: boolean;
  /** The page opens nothing by itself. */
  waits?: boolean;
}

interface Joined {
  member: Member<Look>;
  /** Whether it needs a model that runs; others take one of which only the headers were read. */
  needsEngine: boolean;
  /** The model that it was called with last. */
  given: Look | null;
}

let shown: Joined | null = null;
const joined: Joined[] = [];
let model: (Model<Look> & { isEngine: boolean }) | null = null;
let panel: Opener | null = null;
/** The source that is being opened, or was, and whether it will run. */
let begun: { source: Source; isEngine: boolean } | null = null;

function give(one: Joined): void {
  if (!model || one.given === model.own || (one.needsEngine && !model.isEngine)) return;
  one.given = model.own;
  one.member.opened(model);
}

function showLine(): void {
  if (model?.isEngine) showEngine(model.own as Engine);
  else if (model) showLook(model.own);
  else showNone();
}

/** The page's address names the model, so that it can be sent; files of the visitor's have none. */
function nameInAddress(): void {
  if (!model) return;
  const wanted = typeof model.source === "string" ? model.name : null;
  const url = new URL(location.href);
  if (url.searchParams.get("model") === wanted) return;
  if (wanted === null) url.searchParams.delete("model");
  else url.searchParams.set("model", wanted);
  url.search = url.search.replace(/=(?=&|$)/g, "");
  history.replaceState(history.state, "", url);
}

function opened(own: Look, name: string): void {
  const { source, isEngine } = begun!;
  model = { own, name, source, isEngine };
  showLine();
  // Its opening anew is shown as any opening is.
  if (isEngine) (own as Engine).on("reopened", () => model?.own === own && showLine());
  if (shown) nameInAddress();
  if (!isEngine) closedFor(joined.filter(({ needsEngine }) => needsEngine)); // the one before has made room
  for (const one of joined) if (one === shown || one.member.isEager) give(one);
  if (shown?.needsEngine && !isEngine) void panel?.again();
}

function closedFor(some: Joined[]): void {
  for (const one of some) {
    one.given = null;
    one.member.closed?.();
  }
}

function closed(): void {
  model = null;
  showNone();
  closedFor(joined);
}

/** Texts of all tabs that are generated side by side, and the positions that they share: as many as one text would have. */
const SEQUENCES = 4;
const CACHE_TOKENS = 4096;
const forAllTabs = ({ context = 0 }: OpenOptions): OpenOptions => ({ share: true, sequences: SEQUENCES, cacheTokens: Math.max(CACHE_TOKENS, context) });

function made(): Opener {
  return opener<Look>(
    (source, options) => {
      begun = { source, isEngine: shown?.needsEngine ?? true };
      return begun.isEngine ? open(source, { ...options, ...forAllTabs(options) }) : look(source, options);
    },
    opened,
    {
      initial: BUILTIN,
      closed,
      claims: (files) => shown?.member.claims?.(files) ?? false,
      progress: (name, share, text) => {
        showOpening(name, share);
        shown?.member.progress?.(name, share, text);
      },
      failed: (error) => {
        showLine();
        shown?.member.failed?.(error);
      },
    },
  );
}

function show(one: Joined): void {
  shown = one;
  panel ??= made();
  one.member.place?.replaceChildren(panel.element);
  nameInAddress();
  give(one);
  if (!begun) return one.member.waits ? undefined : void panel.start();
  // The headers alone were read, or are just read, and this page runs the model.
  if (one.needsEngine && !begun.isEngine && !model?.isEngine) void panel.again();
}

function join(member: Member<Look>, needsEngine: boolean): void {
  const one: Joined = { member, needsEngine, given: null };
  const view = currentView();
  joined.push(one);
  view.shown.add(() => show(one));
  view.hidden.add(() => shown === one && (shown = null));
  show(one);
}

/** The page whose script runs has the model, and runs it. */
export const joinEngine = (member: Member<Engine>): void => join(member, true);

/** The page whose script runs looks at the model, for which the headers are enough. */
export const joinLook = (member: Member<Look>): void => join(member, false);

/** Opens what the page waits for. */
export const startModel = (): Promise<void> => panel?.start() ?? Promise.resolve();
