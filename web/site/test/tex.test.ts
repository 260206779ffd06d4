// Formulas of answers.
import { expect, test } from "vitest";
import { answerHtml } from "../src/answer_view.ts";
import { formulaAt, mathOf } from "../src/tex.ts";

const inside = (tex: string, isBlock = false) => mathOf(tex, isBlock).replace(/^<math display="\w+">|<\/math>$/g, "");

test.each([
  ["x^2", "<msup><mi>x</mi><mn>2</mn></msup>"],
  ["a_{ij}'", "<msubsup><mi>a</mi><mrow><mi>i</mi><mi>j</mi></mrow><mrow><mo>′</mo></mrow></msubsup>"],
  ["\\frac{1}{2}\\alpha", "<mrow><mfrac><mn>1</mn><mn>2</mn></mfrac><mi>α</mi></mrow>"],
  ["\\sqrt[3]{8} \\le 3.5", "<mrow><mroot><mn>8</mn><mn>3</mn></mroot><mo>≤</mo><mn>3.5</mn></mrow>"],
  ["\\left( x \\right]", '<mrow><mo stretchy="true">(</mo><mi>x</mi><mo stretchy="true">]</mo></mrow>'],
  ["\\text{if } x < 1", "<mrow><mtext>if </mtext><mi>x</mi><mo>&lt;</mo><mn>1</mn></mrow>"],
  ["\\sin\\mathbb{R}\\{\\unknown", "<mrow><mi>sin</mi><mi>ℝ</mi><mo>{</mo><mtext>\\unknown</mtext></mrow>"],
  ["\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}", '<mrow><mo stretchy="true">(</mo><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd><mtd><mn>4</mn></mtd></mtr></mtable><mo stretchy="true">)</mo></mrow>'],
])("%s", (tex, expected) => expect(inside(tex)).toBe(expected));

test("limits stand below and above in a line of their own", () => {
  expect(inside("\\sum_{i=1}^n", true)).toBe("<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover>");
  expect(inside("\\sum_1^n")).toContain("<msubsup>");
});

test("what is cut off ends, and no text of it becomes markup", () => {
  for (const tex of ["\\frac{1", "\\left(", "x^", "\\begin{cases} a &", "{{{", "\\", "\\sqrt[", "_", "<img src=x>", "\\text{<b>}", '\\begin{"><script>}']) {
    expect(mathOf(tex, true).replace(/<\/?m\w+( (display|stretchy|class|accent|width|linethickness|linebreak)="[\w .-]*")*>/g, "")).not.toMatch(/[<>]/);
  }
});

test("any depth of nesting ends", () => {
  for (const part of ["{", "\\sqrt", "x^", "\\left(", "\\begin{a}"]) expect(mathOf(part.repeat(50_000), true)).toMatch(/^<math/);
});

test("money is no formula", () => {
  for (const text of ["$5 and $6", "$ x $", "costs $5$6", "$", "$$", "\\("]) expect(formulaAt(text, 0)).toBeNull();
  expect(formulaAt("$x^2$ and", 0)).toEqual({ tex: "x^2", isBlock: false, end: 5 });
  expect(answerHtml("It is \\(x^2\\), of $5 or `$x^2$`:\n\n\\[\na = b\n\\]")).toBe(
    '<p>It is <math display="inline"><msup><mi>x</mi><mn>2</mn></msup></math>, of $5 or <code>$x^2$</code>:</p>\n<p><math display="block"><mrow><mi>a</mi><mo>=</mo><mi>b</mi></mrow></math></p>\n');
});
