// A kernel's text with its constants as the numbers that they are: what a step's sizes make of it.

/** Puts the value in place of each constant that has a number, but where it is declared. */
export function withNumbers(wgsl: string): string {
  const values = new Map([...wgsl.matchAll(/^const (\w+)(?:\s*:\s*\w+)? = (-?(?:0x)?[\d.][\w.]*|true|false);/gm)].map(([, name, value]) => [name!, value!]));
  return wgsl
    .split("\n")
    .map((line) => (/^\s*const \w+/.test(line) ? line.replace(/= .*$/, (rest) => replaced(rest, values)) : replaced(line, values)))
    .join("\n");
}

const replaced = (text: string, values: Map<string, string>) => text.replace(/\/\/.*$|\b[A-Za-z_]\w*\b/g, (word) => values.get(word) ?? word);
