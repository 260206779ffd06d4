// Columns that stand right or in the middle, by classes: the pages' policy allows no inline styles.
import type MarkdownIt from "markdown-it";

/** Gives the cells of aligned columns the class `to-right` or `to-center` in place of a style. */
export function alignByClass(markdown: InstanceType<typeof MarkdownIt>): void {
  const { rules } = markdown.renderer;
  for (const rule of ["th_open", "td_open"]) {
    rules[rule] = (tokens, at, options, _env, self) => {
      const cell = tokens[at]!;
      const side = /^text-align:(right|center)$/.exec(String(cell.attrGet("style") ?? ""))?.[1];
      cell.attrs = (cell.attrs ?? []).filter(([name]) => name !== "style");
      if (side) cell.attrSet("class", `to-${side}`);
      return self.renderToken(tokens, at, options);
    };
  }
}
