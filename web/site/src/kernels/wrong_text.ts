// A kernel's text with one operator flipped, and what an edit of a text comes to.
import type { KernelChange } from "tokamak-web";

export interface Flip {
  /** The text with the other operator. */
  text: string;
  /** The changed line, from 0. */
  line: number;
}

/** Sums first, since a wrong one shows in each result; steps of loops are left alone, which might not end. */
const KINDS: [RegExp, string][] = [
  [/^(\s*[\w.[\]+*/% ]+ )\+=( (?!\d+u?;).*)$/, "-="],
  [/^(.* = [\w.()[\]]+ )\*( .*)$/, "+"],
  [/^(\s*return .*? )\*( .*)$/, "+"],
  [/^(.* = [\w.()[\]]+ )\+( .*)$/, "-"],
  [/^(\s*return .*? )[+](?= )(.*)$/, "-"],
];

/** Flips an operator of the text; null where there is none that it knows. */
export function flipped(text: string): Flip | null {
  const lines = text.split("\n");
  for (const [kind, operator] of KINDS) {
    const line = lines.findIndex((one) => kind.test(one) && !/^\s*(const|override|for)\b/.test(one));
    if (line < 0) continue;
    lines[line] = lines[line]!.replace(kind, (_, before: string, after: string) => before + operator + after);
    return { text: lines.join("\n"), line };
  }
  return null;
}

export interface Edit extends Omit<KernelChange, "kernel"> {
  /** The first line that differs, from 0. */
  line: number;
}

/** The lines that differ between two texts, those in the middle that are equal as well; null where the texts are the same. */
export function editOf(before: string, after: string): Edit | null {
  if (before === after) return null;
  const [old, own] = [before.split("\n"), after.split("\n")];
  let line = 0;
  while (line < Math.min(old.length, own.length) && old[line] === own[line]) line += 1;
  let end = 0;
  while (end < Math.min(old.length, own.length) - line && old.at(-1 - end) === own.at(-1 - end)) end += 1;
  // A line that is new stands at one that was there: an empty text would be everywhere.
  if (old.length - end === line) line > 0 ? (line -= 1) : (end -= 1);
  return { line, from: old.slice(line, old.length - end).join("\n"), to: own.slice(line, own.length - end).join("\n") };
}
