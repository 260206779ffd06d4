// The imports "text" and, under the names of utf8proc, "env": regular expressions, normal forms and
// facts of Unicode, which the browser knows.
import { utf8 } from "./memory.js";
import { Handles } from "./handles.js";

const FORMS = ["NFC", "NFD", "NFKC", "NFKD"]; // NormalForm
// utf8proc_category_t
const CATEGORIES = ("Cn Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp " +
  "Cc Cf Cs Co").split(" ").map((name) => new RegExp(`^\\p{${name}}$`, "u"));

const utf8Length = (codePoint) =>
  codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;

/** Places in a text of JavaScript as places in its UTF-8; asked for in ascending order. */
function byteOffsets(text) {
  let at = 0;
  let bytes = 0;
  return (index) => {
    while (at < index) {
      const codePoint = text.codePointAt(at);
      bytes += utf8Length(codePoint);
      at += codePoint > 0xffff ? 2 : 1;
    }
    return bytes;
  };
}

export function textImports(memory) {
  const expressions = new Handles();
  return {
    // Errors end with a zero; the module has cleared the memory.
    regex_compile: (pattern, bytes, reason, capacity) => {
      try {
        return expressions.add(new RegExp(memory.text(pattern, bytes), "gmu"));
      } catch (error) {
        memory.write(error.message, reason, capacity);
        return 0;
      }
    },
    regex_find_all: (expression, address, bytes, bounds, capacity) => {
      const text = memory.text(address, bytes);
      const toBytes = byteOffsets(text);
      const found = [];
      for (const match of text.matchAll(expressions.get(expression))) {
        found.push(toBytes(match.index), toBytes(match.index + match[0].length));
      }
      memory.numbers(bounds, 2 * capacity).set(found.slice(0, 2 * capacity));
      return Math.min(found.length / 2, capacity);
    },
    regex_release: (expression) => {
      expressions.take(expression);
    },
    normalize: (form, address, bytes, out, capacity) => {
      const normal = utf8(memory.text(address, bytes).normalize(FORMS[form]));
      if (normal.length <= capacity) memory.bytes(out, normal.length).set(normal);
      return normal.length;
    },
  };
}

export function unicodeImports() {
  const known = new Map(); // code point -> category: texts have few different characters
  return {
    utf8proc_category: (codePoint) => {
      if (!known.has(codePoint)) {
        const character = String.fromCodePoint(codePoint);
        known.set(codePoint, Math.max(0, CATEGORIES.findIndex((one) => one.test(character))));
      }
      return known.get(codePoint);
    },
    // One character for one, as Unicode has it where the context does not matter.
    utf8proc_tolower: (codePoint) => {
      const lower = [...String.fromCodePoint(codePoint).toLowerCase()];
      return lower.length === 1 || codePoint === 0x130 ? lower[0].codePointAt(0) : codePoint;
    },
  };
}
