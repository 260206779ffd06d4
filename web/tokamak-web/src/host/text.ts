// The imports "text" and, under the names of utf8proc, "env": regular expressions, normal forms and
// facts of Unicode, which the browser knows.
import { Handles } from "./handles.ts";
import { type Memory, utf8 } from "./memory.ts";

const FORMS = ["NFC", "NFD", "NFKC", "NFKD"]; // NormalForm
// utf8proc_category_t
const CATEGORIES = ("Cn Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp " +
  "Cc Cf Cs Co").split(" ").map((name) => new RegExp(`^\\p{${name}}$`, "u"));

const utf8Length = (codePoint: number) =>
  codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;

/** Places in a text of JavaScript as places in its UTF-8; asked for in ascending order. */
function byteOffsets(text: string) {
  let at = 0;
  let bytes = 0;
  return (index: number) => {
    while (at < index) {
      const codePoint = text.codePointAt(at) ?? 0;
      bytes += utf8Length(codePoint);
      at += codePoint > 0xffff ? 2 : 1;
    }
    return bytes;
  };
}

/**
 * Full case folding of one character, which JavaScript has not. Where characters have several forms, the
 * lower case of the upper case is the one that they share; Cherokee folds to the upper case.
 */
function fold(character: string): string {
  if (character === "ı") return character;
  const upper = character.toLowerCase().toUpperCase();
  return /\p{Script=Cherokee}/u.test(character) ? upper : upper.toLowerCase();
}

/** One character for one, as Unicode has it where the context does not matter. */
function single(codePoint: number, changed: string): number {
  const characters = [...changed];
  return characters.length === 1 ? (changed.codePointAt(0) ?? codePoint) : codePoint;
}

/** Letters whose upper case is two characters, and of one character something else: ẞ, ᾈ, ᾼ. */
function upper(codePoint: number): number {
  if (codePoint === 0xdf) return 0x1e9e;
  if (codePoint >= 0x1f80 && codePoint <= 0x1faf) return codePoint | 8;
  if ([0x1fb3, 0x1fc3, 0x1ff3].includes(codePoint)) return codePoint + 9;
  return single(codePoint, String.fromCodePoint(codePoint).toUpperCase());
}

export function textImports(memory: Memory) {
  const expressions = new Handles();
  return {
    // Errors end with a zero; the module has cleared the memory.
    regex_compile: (pattern: number, bytes: number, reason: number, capacity: number) => {
      try {
        // Flags at the beginning of an expression are beside it in JavaScript.
        const [, inline, rest = ""] = /^(\(\?i\))?(.*)$/s.exec(memory.text(pattern, bytes)) ?? [];
        return expressions.add(new RegExp(rest, inline ? "gimu" : "gmu"));
      } catch (error) {
        memory.write((error as SyntaxError).message, reason, capacity);
        return 0;
      }
    },
    regex_find_all: (
      expression: number,
      address: number,
      bytes: number,
      bounds: number,
      capacity: number,
    ) => {
      const text = memory.text(address, bytes);
      const toBytes = byteOffsets(text);
      const found: number[] = [];
      for (const match of text.matchAll(expressions.get<RegExp>(expression))) {
        found.push(toBytes(match.index), toBytes(match.index + match[0].length));
      }
      memory.numbers(bounds, 2 * capacity).set(found.slice(0, 2 * capacity));
      return Math.min(found.length / 2, capacity);
    },
    // At most 12 bytes, which no fold exceeds.
    fold: (codePoint: number, out: number) =>
      memory.write(fold(String.fromCodePoint(codePoint)), out, 12),
    regex_release: (expression: number) => {
      expressions.take(expression);
    },
    normalize: (form: number, address: number, bytes: number, out: number, capacity: number) => {
      const normal = utf8(memory.text(address, bytes).normalize(FORMS[form]));
      if (normal.length <= capacity) memory.bytes(out, normal.length).set(normal);
      return normal.length;
    },
  };
}

export function unicodeImports() {
  // Code point -> category: texts have few different characters.
  const known = new Map<number, number>();
  return {
    utf8proc_category: (codePoint: number) => {
      let category = known.get(codePoint);
      if (category === undefined) {
        const character = String.fromCodePoint(codePoint);
        category = Math.max(0, CATEGORIES.findIndex((one) => one.test(character)));
        known.set(codePoint, category);
      }
      return category;
    },
    utf8proc_tolower: (codePoint: number) =>
      codePoint === 0x130 ? 0x69 : single(codePoint, String.fromCodePoint(codePoint).toLowerCase()),
    utf8proc_toupper: upper,
  };
}
