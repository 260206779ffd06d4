// The stages of a model between its files and the device, as `tokamak inspect` shows them.
import type { InspectOptions, Look, View } from "tokamak-web";
import { selection } from "./address.ts";
import { byId, h } from "./dom.ts";
import { type Finder, finder } from "./finder.ts";
import { showPoster } from "./poster.ts";
import { showError } from "./shell.ts";
import { type Model, joinLook } from "./site_model.ts";
import { type Tab, tabs } from "./tabs.ts";
import { templatePreview } from "./template.ts";
import { tokenPlayground } from "./tokens.ts";

type Form = NonNullable<InspectOptions["form"]>;
const FORMS: Record<Form, string> = { table: "Table", text: "Text that parses back", dot: "For Graphviz", json: "JSON" };
const ALL: Form[] = ["table", "text", "dot", "json"];
const PLAIN: Form[] = ["table", "json"];

const VIEWS: { view: View; title: string; about: string; forms: Form[]; more?: { href: string; title: string } }[] = [
  { view: "summary", title: "Summary", about: "Sizes, files, what was fused, memory.", forms: PLAIN },
  { view: "graph", title: "Graph", about: "Operations as the architecture writes them.", forms: ALL },
  { view: "fused", title: "Fused", about: "Operations after the fusion passes.", forms: ALL },
  { view: "plan", title: "Plan", about: "The kernels that run, in order, and why no others.", forms: ALL, more: { href: "./kernels.html", title: "See each with its text" } },
  { view: "weights", title: "Weights", about: "Tensors of the checkpoint and where they go.", forms: PLAIN },
  { view: "memory", title: "Memory", about: "What it takes on this device.", forms: PLAIN },
  { view: "support", title: "Support", about: "What of it runs, where, and why not the rest.", forms: PLAIN },
];

/** One of the views, read when it is first looked at. */
function viewTab({ view, title, about, forms, more }: (typeof VIEWS)[number], engine: Look): Tab {
  const form = h("select", { "aria-label": `Form of the ${title.toLowerCase()}` }, ...forms.map((one) => h("option", { value: one }, FORMS[one])));
  const text: Finder = finder(title, {}, form);
  const panel = h("section", {}, h("p", { class: "hint" }, about, more && " ", more && h("a", { href: more.href }, more.title)), text.element);
  const known = new Map<string, string>();
  async function show(): Promise<void> {
    const wanted = form.value as Form;
    if (!known.has(wanted)) {
      const found = await engine.inspect(view, { form: wanted });
      known.set(wanted, typeof found === "string" ? found : JSON.stringify(found, null, 1));
    }
    if (form.value !== wanted) return; // another one was chosen meanwhile
    panel.querySelector(":scope > .error")?.remove();
    const kind = wanted === "json" || wanted === "dot" ? wanted : "txt";
    text.show(known.get(wanted) ?? "", `${view}.${kind}`);
  }
  const shown = () => void show().catch((error: unknown) => showError(panel, error));
  form.addEventListener("input", shown);
  return { id: view, title, panel, shown };
}

/** A tab that is made when it is first looked at. */
function lazyTab(id: string, title: string, panel: HTMLElement, make: () => void): Tab {
  let isMade = false;
  const shown = () => {
    if (!isMade) make();
    isMade = true;
  };
  return { id, title, panel, shown };
}

function show({ own: engine, source }: Model<Look>): void {
  const poster = h("section");
  const tokens = h("section");
  const template = h("section");
  const all = [
    ...VIEWS.map((view) => viewTab(view, engine)),
    lazyTab("poster", "Poster", poster, () => void showPoster(poster, engine).catch((error: unknown) => showError(poster, error))),
    lazyTab("tokens", "Tokens", tokens, () => tokenPlayground(tokens, engine)),
    lazyTab("template", "Chat template", template, () => templatePreview(template, engine)),
  ];
  const made = tabs("Views of the model", all);
  byId("inspect").replaceChildren(made.list, ...all.map(({ panel }) => panel));
  // Who drops a file wants to see what it is.
  made.choose(typeof source === "string" || source instanceof URL ? selection().name : "poster");
}

joinLook({ place: byId("opener"), opened: show });
