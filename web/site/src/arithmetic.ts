// Sums of numbers, for the calculator that a model may call: + - * / ^ % and brackets.

const TOKEN = /\s*(\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+|\*\*|[-+*/^%()])/giy;

function tokensOf(text: string): string[] {
  const plain = text.replace(/[×·]/g, "*").replace(/÷/g, "/").replace(/−/g, "-").trim();
  const found: string[] = [];
  TOKEN.lastIndex = 0;
  let end = 0;
  for (let next = TOKEN.exec(plain); next; next = TOKEN.exec(plain)) {
    found.push(next[1] === "**" ? "^" : next[1]!);
    end = TOKEN.lastIndex;
  }
  if (end < plain.length) throw new Error(`"${plain.slice(end).trim()}" is no number and no sign of a sum.`);
  return found;
}

/** Fails with a sentence where the text is no sum. */
export function calculated(text: string): number {
  const tokens = tokensOf(text);
  let at = 0;
  const take = (sign: string) => tokens[at] === sign && (at += 1) > 0;

  function atom(): number {
    if (take("-")) return -power();
    if (take("+")) return power();
    if (take("(")) {
      const value = sum();
      if (!take(")")) throw new Error("A bracket is not closed.");
      return value;
    }
    const value = Number(tokens[at] ?? NaN);
    if (Number.isNaN(value)) throw new Error(tokens[at] === undefined ? "The sum ends too early." : `"${tokens[at]}" stands where a number is expected.`);
    at += 1;
    return value;
  }
  function power(): number {
    const base = atom();
    return take("^") ? base ** power() : base;
  }
  function product(): number {
    let value = power();
    for (;;) {
      if (take("*")) value *= power();
      else if (take("/")) value /= power();
      else if (take("%")) value %= power();
      else return value;
    }
  }
  function sum(): number {
    let value = product();
    for (;;) {
      if (take("+")) value += product();
      else if (take("-")) value -= product();
      else return value;
    }
  }

  const value = sum();
  if (at < tokens.length) throw new Error(`"${tokens[at]}" stands where a sign of a sum is expected.`);
  return value;
}
