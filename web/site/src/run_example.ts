// Examples of the documents, run: what they print is put below them. They open the model that lies beside the site in
// place of one that would have to be downloaded first.
import { type Engine, type GenerateOptions, type OpenOptions, type Run, open } from "tokamak-web";
import { h } from "./dom.ts";
import { seconds } from "./numbers.ts";
import { BUILTIN, settings, sourceOf } from "./asked.ts";
import { showError } from "./shell.ts";

interface Example {
  /** By which it is known among others. */
  has: string;
  begin(engine: Engine, options: GenerateOptions): Run;
}

const QUESTION = "Why is the sky blue?";
const BEGINNING = "Once upon a time";

const EXAMPLES: Example[] = [
  {
    has: QUESTION,
    // A model without a template for chats continues the text in place of answering it.
    begin: (engine, options) => {
      const own = { ...options, maxTokens: 200 };
      return engine.model.hasTemplate ? engine.chat([{ role: "user", content: QUESTION }], own) : engine.generate(QUESTION, own);
    },
  },
  { has: `engine.generate("${BEGINNING}"`, begin: (engine, options) => engine.generate(BEGINNING, { ...options, maxTokens: 64 }) },
];

/** The example that a text is, if one of them. */
export const exampleOf = (text: string) => EXAMPLES.find(({ has }) => text.includes(has));

type Opened = (tell: (text: string) => void, signal: AbortSignal) => Promise<Engine>;

/** An engine for the examples of a page alone; `base` leads to the site's files. */
export function ownEngine(base: string): Opened {
  let engine: Engine | null = null;
  return async (tell, signal) => {
    const asked = settings();
    const source = asked.model ? sourceOf(asked.model) : sourceOf(BUILTIN, base);
    const onProgress: OpenOptions["onProgress"] = ({ phase, overall }) => tell(`${phase} ${Math.round(100 * overall)} %`);
    return (engine ??= await open(source, { ...asked.options, signal, onProgress }));
  };
}

/** `opened` gives the engine that runs it. */
export function makeRunnable(pre: HTMLElement, opened: Opened, example: Example): void {
  const button = h("button", { type: "button" }, "Run");
  const stop = h("button", { type: "button", class: "quiet", hidden: true }, "Stop");
  const status = h("p", { class: "status", role: "status" });
  const output = h("p", { class: "output", "aria-live": "polite", hidden: true });
  const panel = h(
    "div",
    { class: "panel example" },
    h("div", { class: "row" }, button, stop, h("span", { class: "hint" }, "with the small storyteller that lies beside this site")),
    status,
    output,
  );
  pre.after(panel);

  let run: Run | null = null;
  let abort = new AbortController();

  const go = async () => {
    const engine = await opened((text) => (status.textContent = text), abort.signal);
    output.textContent = "";
    output.hidden = false;
    run = example.begin(engine, { signal: abort.signal });
    for await (const { text } of run) output.append(text);
    const { finish, tokens, promptTokens, decodeSeconds } = await run.result;
    status.textContent = `finish: ${finish}, promptTokens: ${promptTokens}, ${tokens} tokens in ${seconds(decodeSeconds)}`;
  };
  button.addEventListener("click", async () => {
    abort = new AbortController();
    button.disabled = true;
    stop.hidden = false;
    panel.querySelector(".error")?.remove();
    try {
      await go();
    } catch (error) {
      status.textContent = "";
      if ((error as { code?: string }).code === "cancelled") status.textContent = "Stopped.";
      else showError(panel, error);
    } finally {
      button.disabled = false;
      stop.hidden = true;
    }
  });
  stop.addEventListener("click", () => {
    abort.abort();
    run?.cancel();
  });
}
