// The first example of the package's README, run: what it prints is put below it. It opens the model
// that lies beside the site in place of one that would have to be downloaded first.
import { type Engine, type Run, open } from "tokamak-web";
import { h } from "./dom.ts";
import { seconds } from "./numbers.ts";
import { BUILTIN, settings, sourceOf } from "./opener.ts";
import { showError } from "./shell.ts";

/** What the example asks, by which it is known among others. */
export const QUESTION = "Why is the sky blue?";

export function makeRunnable(pre: HTMLElement, base: string): void {
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

  let engine: Engine | null = null;
  let run: Run | null = null;
  let abort = new AbortController();

  const opened = async () => {
    const asked = settings();
    const source = asked.model ? sourceOf(asked.model) : sourceOf(BUILTIN, base);
    return open(source, {
      ...asked.options,
      signal: abort.signal,
      onProgress: ({ phase, overall }) => (status.textContent = `${phase} ${Math.round(100 * overall)} %`),
    });
  };
  const go = async () => {
    engine ??= await opened();
    output.textContent = "";
    output.hidden = false;
    // A model without a template for chats continues the text in place of answering it.
    const options = { maxTokens: 200, signal: abort.signal };
    const { hasTemplate } = engine.model;
    run = hasTemplate ? engine.chat([{ role: "user", content: QUESTION }], options) : engine.generate(QUESTION, options);
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
