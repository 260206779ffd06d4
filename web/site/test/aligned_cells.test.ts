import MarkdownIt from "markdown-it";
import { expect, test } from "vitest";
import { alignByClass } from "../src/aligned_cells.ts";

test("cells of aligned columns have a class and no style", () => {
  const markdown = new MarkdownIt();
  alignByClass(markdown);
  const html = markdown.render("| a | b | c |\n| --- | --: | :-: |\n| 1 | 2 | 3 |\n");
  expect(html).not.toContain("style");
  expect(html).toContain("<td>1</td>");
  expect(html).toContain('<th class="to-right">b</th>');
  expect(html).toContain('<td class="to-center">3</td>');
});
