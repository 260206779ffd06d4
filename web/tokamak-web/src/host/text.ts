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

export function textImports(memory: Memory) {
  const expressions = new Handles();
  return {
    // Errors end with a zero; the module has cleared the memory.
    regex_compile: (pattern: number, bytes: number, reason: number, capacity: number) => {
      try {
        return expressions.add(new RegExp(memory.text(pattern, bytes), "gmu"));
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
    // One character for one, as Unicode has it where the context does not matter.
    utf8proc_tolower: (codePoint: number) => {
      const lower = [...String.fromCodePoint(codePoint).toLowerCase()];
      return (lower.length === 1 || codePoint === 0x130) && lower[0]
        ? (lower[0].codePointAt(0) ?? codePoint)
        : codePoint;
    },
  };
}
