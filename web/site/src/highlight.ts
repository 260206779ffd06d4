// Colours for code of any language: comments, texts, numbers and the words that most languages keep for themselves. It knows no grammar,
// so that what it does not know stays plain.

const WORDS = new Set(("and as async await begin bool boolean break case catch char class const constexpr continue def default defer del delete do double elif else end enum " +
  "except export extends extern false final finally float fn for from func function global go goto if impl implements import in include inline int interface is lambda " +
  "let long loop match mod module mut namespace new nil none not null nullptr operator or override package pass private protected pub public raise ref return self short " +
  "signed sizeof static struct super switch template then this throw throws trait true try type typedef typename typeof union unsigned use using var virtual void volatile " +
  "where while with yield enable loop override workgroup storage uniform private array atomic u32 i32 f32 f16 bitcast select insert update create table values join None True False").split(" "));

/** Languages in which a line's rest after "#" is a comment, and those in which it is after "--". */
const HASH = /^(py|python|rb|ruby|sh|bash|zsh|shell|yaml|yml|toml|r|perl|make|cmake|dockerfile|ini|conf)$/;
const DASHES = /^(sql|lua|haskell|hs|ada)$/;

const PLAIN_COMMENT = String.raw`\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)`;
const REST = String.raw`"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|` + "`(?:\\\\[^]|[^`\\\\])*`?" + String.raw`|\b0[xX][\da-fA-F_]+\b|\b\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?\w*|[A-Za-z_]\w*`;

function expressionOf(language: string): RegExp {
  const comment = HASH.test(language) ? String.raw`#[^\n]*` : DASHES.test(language) ? String.raw`--[^\n]*` : PLAIN_COMMENT;
  return new RegExp(`(${comment})|${REST}`, "g");
}

const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
const escaped = (text: string) => text.replace(/[&<>]/g, (one) => ESCAPES[one]!);

function kindOf(found: string, isComment: boolean): string | null {
  if (isComment) return "comment";
  if (/^["'`]/.test(found)) return "string";
  if (/^\d/.test(found)) return "number";
  return WORDS.has(found) ? "word" : null;
}

/** The code as HTML, in which all that is not ours is escaped. */
export function highlighted(code: string, language: string): string {
  let html = "";
  let at = 0;
  for (const match of code.matchAll(expressionOf(language.toLowerCase()))) {
    const [found] = match;
    const kind = kindOf(found, match[1] !== undefined);
    if (!kind) continue;
    html += `${escaped(code.slice(at, match.index))}<span class="code-${kind}">${escaped(found)}</span>`;
    at = match.index + found.length;
  }
  return html + escaped(code.slice(at));
}
