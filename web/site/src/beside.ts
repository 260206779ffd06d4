// The page bench's panel that runs the same text with another engine, which it loads when the visitor asks for that.
import { type Engine, open } from "tokamak-web";
import { settings, sourceOf } from "./asked.ts";
import { copyButton, download, h, table } from "./dom.ts";
import { bytes, figure, seconds } from "./numbers.ts";
import { OTHERS, type Other, type Runner, Stopwatch, type Timing } from "./others.ts";
import { commonLength, modelOf } from "./same_model.ts";
import { showError } from "./shell.ts";
import { loadedAs } from "./view.ts";

const PROMPT = "Write a long story about a small robot that learns to paint.";
/** The model whose builds the other engines name first. */
const OURS = "Qwen/Qwen3-0.6B";
const TITLES = ["Engine", "Model", "Weights", "It begins", "Tokens", "First token", "Tokens/s"];
/** Characters of a beginning in the table. */
const BEGINNING = 40;

/** The measurement of an engine: the median of its repetitions by tokens per second. */
export interface Measured extends Timing {
  engine: string;
  model: string;
  weights: string;
  tokensPerSecond: number;
}

interface Asked {
  tokens: number;
  repetitions: number;
}

export interface Beside {
  readonly element: HTMLElement;
  /** The model to compare with. */
  opened(engine: Engine): void;
}

/** A model of ours, through the same calls as anybody's page. */
function ours(engine: Engine): Runner {
  return {
    run: async (prompt, maxTokens) => {
      const watch = new Stopwatch();
      const options = { maxTokens, temperature: 0 };
      const { hasTemplate } = engine.model;
      const run = hasTemplate ? engine.chat([{ role: "user", content: prompt }], options) : engine.generate(prompt, options);
      for await (const { ids, text } of run) watch.add(ids.length, text);
      return watch.timing();
    },
    close: () => engine.close(),
  };
}

const speedOf = ({ tokens, decodeSeconds }: Timing) => (decodeSeconds > 0 ? (tokens - 1) / decodeSeconds : 0);

/** Once to warm up, and then as often as asked for. */
async function measured(runner: Runner, { tokens, repetitions }: Asked, tell: (text: string) => void): Promise<Timing> {
  const found: Timing[] = [];
  for (let at = 0; at <= repetitions; at += 1) {
    tell(at === 0 ? "warming up" : `${at} of ${repetitions}`);
    const timing = await runner.run(PROMPT, tokens);
    if (at > 0) found.push(timing);
  }
  found.sort((a, b) => speedOf(a) - speedOf(b));
  return found[Math.floor(found.length / 2)]!;
}

const cells = ({ engine, model, weights, text, tokens, firstSeconds, tokensPerSecond }: Measured) =>
  [engine, model, weights, text.slice(0, BEGINNING).replace(/[\s|]+/g, " "), String(tokens), seconds(firstSeconds), figure(tokensPerSecond)];

const markdown = (rows: Measured[]) =>
  [TITLES, TITLES.map((_, at) => (at < 4 ? "---" : "---:")), ...rows.map(cells)].map((row) => `| ${row.join(" | ")} |\n`).join("");

/** `asked` gives what the page's fields say, or null where one of them is wrong. */
export function beside(asked: () => Asked | null): Beside {
  let engine: Engine | null = null;
  const which = h("select", { id: "other" }, ...Object.entries(OTHERS).map(([id, { title }]) => h("option", { value: id }, title)));
  const our = h("input", { id: "our-model", autocomplete: "off", spellcheck: "false", value: OURS });
  const model = h("input", { id: "other-model", autocomplete: "off", spellcheck: "false", "aria-describedby": "other-about" });
  const about = h("p", { class: "hint", id: "other-about" });
  const button = h("button", { type: "submit", disabled: true }, "Load and compare");
  const reload = h("button", { type: "button", onclick: () => location.reload() }, "Load this page anew");
  const status = h("p", { class: "status", role: "status" });
  const results = h("div", { id: "compared" });
  const form = h(
    "form",
    {},
    h("p", { class: "hint" }, "The same greedy answer by both engines, one after the other, of the same model with weights of 4 bits, with the times that a page sees. " +
      "The other engine comes from cdn.jsdelivr.net and its model from Hugging Face, once you ask for it and not before. " +
      "Like the site's own, its code can read what this site keeps in your browser."),
    h("div", { class: "settings" },
      h("div", { class: "setting" }, h("label", { for: "our-model" }, "Model of Tokamak"), our),
      h("div", { class: "setting" }, h("label", { for: "other" }, "Engine"), which),
      h("div", { class: "setting" }, h("label", { for: "other-model" }, "Model"), model, about)),
    h("div", { class: "row" }, ...(loadedAs === "bench.html" ? [button] : [reload, h("span", { class: "hint" }, "Other pages of this site may not fetch another engine's code; this one may once it is loaded by itself.")])),
    status,
  );
  const chosen = (): Other => OTHERS[which.value]!;
  const hasF16 = () => engine?.adapter.features.includes("shader-f16") ?? false;
  const show = () => {
    model.value = chosen().model(hasF16());
    about.textContent = chosen().about;
  };
  which.addEventListener("input", show);
  show();

  /** Opens a model of ours for the comparison alone; it is closed before the other engine begins. */
  async function openOurs(): Promise<{ own: Engine; weights: string }> {
    const name = our.value.trim();
    const isPacked = /gguf/i.test(name);
    const own = await open(sourceOf(name), {
      ...settings().options,
      ...(!isPacked && { quantize: "q4" }),
      onProgress: ({ phase, overall }) => (status.textContent = `Tokamak: ${phase} ${Math.round(100 * overall)} %`),
    });
    const { quantization, memory } = own.model;
    return { own, weights: `${isPacked ? quantization : `q4 of ${quantization}`}, ${bytes(memory.weights)}` };
  }

  async function compare(how: Asked): Promise<Measured[]> {
    const one = async (title: string, name: string, weights: string, runner: Runner): Promise<Measured> => {
      try {
        const timing = await measured(runner, how, (text) => (status.textContent = `${title}: ${text} …`));
        return { engine: title, model: name, weights, ...timing, tokensPerSecond: speedOf(timing) };
      } finally {
        await runner.close();
      }
    };
    const other = chosen();
    const name = model.value.trim();
    const { own, weights } = await openOurs();
    const first = await one("Tokamak", own.model.name, weights, ours(own));
    status.textContent = `${other.title} is loaded …`;
    const runner = await other.open(name, hasF16(), (text) => (status.textContent = `${other.title}: ${text}`));
    return [first, await one(other.title, name, "4 bits", runner)];
  }

  /** The sentence before the numbers: whether they are of the same model, and whether both have written the same. */
  function verdict([first, second]: Measured[]): string {
    if (!first || !second) return "";
    if (modelOf(our.value) !== modelOf(second.model)) return `These are different models (${modelOf(our.value)} and ${modelOf(second.model)}): their speeds do not compare.`;
    const same = commonLength(first.text, second.text);
    return same >= Math.min(first.text.length, second.text.length, BEGINNING)
      ? `Both begin with the same ${same} characters.`
      : `They differ after ${same} characters: 4 bits are rounded in different ways, or one of them computes wrongly.`;
  }

  function draw(rows: Measured[], on: Engine): void {
    const says = verdict(rows);
    const json = h("button", { type: "button", class: "quiet" }, "Save the comparison");
    const facts = { prompt: PROMPT, device: on.adapter.name, browser: navigator.userAgent, verdict: says, measured: rows };
    json.addEventListener("click", () => download("tokamak-comparison.json", JSON.stringify(facts, null, 1)));
    results.replaceChildren(
      h("p", {}, says),
      h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Table of engines" }, table(TITLES, rows.map(cells), 4)),
      h("div", { class: "row" }, copyButton(() => `${markdown(rows)}\n${says}\n`, "Copy the comparison"), json),
    );
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const how = asked();
    const own = engine;
    if (!own || !how) return;
    form.querySelector(".error")?.remove();
    results.replaceChildren();
    button.disabled = true;
    try {
      const rows = await compare(how);
      status.textContent = "";
      draw(rows, own);
    } catch (error) {
      status.textContent = "";
      showError(form, error);
    } finally {
      button.disabled = engine === null;
    }
  });
  return {
    element: h("details", { class: "panel" }, h("summary", {}, "Beside another engine"), form, results),
    opened: (found) => {
      const gives = !found.model.embeds && !found.model.hears;
      engine = gives ? found : null;
      button.disabled = !gives;
      results.replaceChildren();
      show();
    },
  };
}
