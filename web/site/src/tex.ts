// Formulas as models write them, in TeX, as MathML, which browsers draw. What it does not know stays as it was written.
import { ACCENTS, FUNCTIONS, LARGE, LETTERS, OPERATORS, SPACES } from "./tex_symbols.ts";

const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text: string) => text.replace(/[&<>"]/g, (one) => ESCAPES[one]!);
const row = (parts: string[]) => (parts.length === 1 ? parts[0]! : `<mrow>${parts.join("")}</mrow>`);

/** Commands, brackets, and single characters; spaces mean nothing. */
const TOKENS = /\\[A-Za-z]+\*?|\\[^]|[{}^_&]|\d+(?:\.\d+)?|[^\s]|\s+/g;
const FENCES: Record<string, string> = { "\\{": "{", "\\}": "}", "\\|": "‖", ".": "" };
const MATRICES: Record<string, [string, string]> = { matrix: ["", ""], pmatrix: ["(", ")"], bmatrix: ["[", "]"], vmatrix: ["|", "|"], cases: ["{", ""] };
const VARIANTS: Record<string, string> = { mathbf: "font-weight-bold", boldsymbol: "font-weight-bold", bm: "font-weight-bold" };
const DOUBLE: Record<string, string> = { R: "ℝ", N: "ℕ", Z: "ℤ", Q: "ℚ", C: "ℂ", P: "ℙ", E: "𝔼" };

/** The deepest nesting that is drawn; below it all stands as it was written. */
const DEEPEST = 100;

class Parser {
  readonly #tokens: string[];
  readonly #isBlock: boolean;
  #at = 0;
  #depth = 0;

  constructor(tex: string, isBlock: boolean) {
    this.#tokens = tex.match(TOKENS) ?? [];
    this.#isBlock = isBlock;
  }

  all(): string {
    const parts = this.#until(() => false);
    return row(parts);
  }

  #skipSpaces(): string | undefined {
    while (/^\s/.test(this.#tokens[this.#at] ?? "")) this.#at += 1;
    return this.#tokens[this.#at];
  }

  #next(): string | undefined {
    const token = this.#skipSpaces();
    this.#at += 1;
    return token;
  }

  /** The parts before a token that ends them, which is taken as well. */
  #until(isEnd: (token: string) => boolean): string[] {
    const parts: string[] = [];
    for (let token = this.#skipSpaces(); token !== undefined; token = this.#skipSpaces()) {
      if (isEnd(token)) {
        this.#at += 1;
        break;
      }
      parts.push(this.#withScripts(this.#atom(), token));
    }
    return parts;
  }

  /** `base` with what stands below and above it. */
  #withScripts(base: string, token: string): string {
    let below = "", above = "";
    for (let next = this.#skipSpaces(); next === "_" || next === "^" || next === "'"; next = this.#skipSpaces()) {
      this.#at += 1;
      if (next === "_") below = this.#argument();
      else above = next === "'" ? `${above}<mo>′</mo>` : this.#argument();
    }
    if (!below && !above) return base;
    const kind = this.#isBlock && LARGE.has(token.slice(1)) ? ["munder", "mover", "munderover"] : ["msub", "msup", "msubsup"];
    const name = kind[below && above ? 2 : below ? 0 : 1];
    return `<${name}>${base}${below}${above.startsWith("<mo>′") ? `<mrow>${above}</mrow>` : above}</${name}>`;
  }

  /** A group in braces, or one token. */
  #argument(): string {
    if (this.#skipSpaces() !== "{") return this.#atom();
    this.#at += 1;
    return row(this.#until((token) => token === "}"));
  }

  /** The text in braces as it was written. */
  #plain(): string {
    if (this.#skipSpaces() !== "{") return this.#next() ?? "";
    this.#at += 1;
    let text = "";
    for (let depth = 1; this.#at < this.#tokens.length; this.#at += 1) {
      const token = this.#tokens[this.#at]!;
      depth += token === "{" ? 1 : token === "}" ? -1 : 0;
      if (depth === 0) break;
      text += token;
    }
    this.#at += 1;
    return text;
  }

  #atom(): string {
    const token = this.#next() ?? "";
    if (this.#depth === DEEPEST) return `<mo>${escaped(token)}</mo>`;
    this.#depth += 1;
    const made = this.#nested(token);
    this.#depth -= 1;
    return made;
  }

  #nested(token: string): string {
    if (token === "{") return row(this.#until((one) => one === "}"));
    if (/^\d/.test(token)) return `<mn>${token}</mn>`;
    if (/^\p{L}$/u.test(token)) return `<mi>${token}</mi>`;
    return token.startsWith("\\") ? this.#command(token.slice(1)) : `<mo>${escaped(token)}</mo>`;
  }

  #command(name: string): string {
    const letter = LETTERS.get(name), operator = OPERATORS.get(name), limits = LARGE.get(name), accent = ACCENTS.get(name), space = SPACES.get(name);
    if (letter) return `<mi>${letter}</mi>`;
    if (operator) return `<mo>${escaped(operator)}</mo>`;
    if (limits) return /^\w/.test(limits) ? `<mi>${limits}</mi>` : `<mo>${limits}</mo>`;
    if (FUNCTIONS.has(name)) return `<mi>${name}</mi>`;
    if (accent) return `<mover accent="true">${this.#argument()}<mo>${accent}</mo></mover>`;
    if (space) return `<mspace width="${space}em"></mspace>`;
    switch (name) {
      case "frac": case "dfrac": case "tfrac": case "cfrac":
        return `<mfrac>${this.#argument()}${this.#argument()}</mfrac>`;
      case "binom":
        return `<mrow><mo>(</mo><mfrac linethickness="0">${this.#argument()}${this.#argument()}</mfrac><mo>)</mo></mrow>`;
      case "sqrt":
        return this.#root();
      case "text": case "textbf": case "textit": case "mathrm": case "operatorname": case "mbox": case "textrm":
        return `<mtext>${escaped(this.#plain())}</mtext>`;
      case "mathbb": {
        const text = this.#plain();
        return `<mi>${escaped(DOUBLE[text] ?? text)}</mi>`;
      }
      case "boxed":
        return `<mrow class="boxed">${this.#argument()}</mrow>`;
      case "left":
        return this.#fenced();
      case "begin":
        return this.#table(this.#plain());
      case "displaystyle": case "limits": case "nonumber": case "big": case "Big": case "bigg": case "Bigg":
        return "";
      case "\\":
        return '<mspace linebreak="newline"></mspace>';
    }
    if (name in VARIANTS) return `<mrow class="${VARIANTS[name]}">${this.#argument()}</mrow>`;
    // An escaped character, else a command that is not known.
    return /^[A-Za-z]/.test(name) ? `<mtext>\\${name}</mtext>` : `<mo>${escaped(name.trim())}</mo>`;
  }

  #root(): string {
    if (this.#skipSpaces() !== "[") return `<msqrt>${this.#argument()}</msqrt>`;
    this.#at += 1;
    const degree = row(this.#until((token) => token === "]"));
    return `<mroot>${this.#argument()}${degree}</mroot>`;
  }

  #fence(): string {
    const token = this.#next() ?? "";
    const text = FENCES[token] ?? OPERATORS.get(token.slice(1)) ?? token;
    return text === "" ? "" : `<mo stretchy="true">${escaped(text)}</mo>`;
  }

  #fenced(): string {
    const open = this.#fence();
    const inside = this.#until((token) => token === "\\right");
    return `<mrow>${open}${inside.join("")}${this.#fence()}</mrow>`;
  }

  #table(kind: string): string {
    const rows: string[][] = [[]];
    const isEnd = (token: string) => token === "&" || token === "\\\\" || token === "\\end";
    for (;;) {
      let end = "\\end";
      const cell = this.#until((token) => isEnd(token) && ((end = token), true));
      rows.at(-1)!.push(`<mtd>${cell.join("")}</mtd>`);
      if (end === "\\\\") rows.push([]);
      if (end === "\\end" || this.#at >= this.#tokens.length) break;
    }
    this.#plain(); // its name
    const [open, close] = MATRICES[kind] ?? ["", ""];
    const fence = (text: string) => (text === "" ? "" : `<mo stretchy="true">${text}</mo>`);
    return `<mrow>${fence(open)}<mtable>${rows.map((cells) => `<mtr>${cells.join("")}</mtr>`).join("")}</mtable>${fence(close)}</mrow>`;
  }
}

/** The formula as MathML; a block stands in a line of its own. */
export function mathOf(tex: string, isBlock: boolean): string {
  return `<math display="${isBlock ? "block" : "inline"}">${new Parser(tex, isBlock).all()}</math>`;
}

export interface Formula {
  tex: string;
  isBlock: boolean;
  /** The place after it in the text. */
  end: number;
}

const MARKS: [open: string, close: string, isBlock: boolean][] = [["$$", "$$", true], ["\\[", "\\]", true], ["\\(", "\\)", false], ["$", "$", false]];

/** The formula that begins there; null where none does. A dollar is mostly one: what it encloses has to look like a formula. */
export function formulaAt(text: string, at: number): Formula | null {
  const mark = MARKS.find(([open]) => text.startsWith(open, at));
  if (!mark) return null;
  const [open, close, isBlock] = mark;
  const begin = at + open.length;
  const end = text.indexOf(close, begin);
  const tex = text.slice(begin, end);
  if (end < 0 || tex.trim() === "") return null;
  if (open === "$") {
    const isFormula = !/^\s|\s$|\n/.test(tex) && !/^\d/.test(text.slice(end + 1)) && (/[\\^_=]/.test(tex) || /^[A-Za-z]$/.test(tex));
    if (!isFormula) return null;
  }
  return { tex, isBlock, end: end + close.length };
}
