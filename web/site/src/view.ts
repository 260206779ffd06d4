// The page that is shown. Each page is made once and stays as it is while another one of this document is shown (router.ts).

export interface View {
  /** The name of its file: "chat.html". */
  readonly file: string;
  readonly main: HTMLElement;
  readonly title: string;
  readonly bodyClass: string;
  /** The address and the place that it was left at. */
  address?: string;
  scrollY: number;
  readonly shown: Set<() => void>;
  readonly hidden: Set<() => void>;
}

export const fileOf = ({ pathname }: URL | Location): string => pathname.slice(pathname.lastIndexOf("/") + 1) || "index.html";

/** The view that a document is when it is loaded. */
export function viewOf(found: Document, file: string): View {
  const main = found.getElementById("main");
  if (!main) throw new Error("The page has no element \"main\".");
  return { file, main, title: found.title, bodyClass: found.body.className, scrollY: 0, shown: new Set(), hidden: new Set() };
}

/** The page that this document was loaded as, whose policy holds for all that are shown in it. */
export const loadedAs = globalThis.location ? fileOf(location) : "";

let current: View | null = null;

/** While a page's script runs for the first time: the view that it is the script of. */
export const currentView = (): View => (current ??= viewOf(document, fileOf(location)));

export function setCurrentView(view: View): void {
  current = view;
}
