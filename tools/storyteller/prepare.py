#!/usr/bin/env python3
"""prepare.py SNAPSHOTS OUT: builds the storyteller's corpus from snapshots of public-domain books.

Reads bare git snapshots SNAPSHOTS/<owner>+<name>/repo of the repositories that books.py names;
writes OUT/corpus.jsonl.xz and OUT/provenance.tsv.

One JSON object per story or chapter: {"g": "t"ales|"p"rose, "b": book, "h": heading, "x": text}.
Paragraphs are single lines separated by a blank line.  Standard library only.
"""
import collections, hashlib, json, lzma, re, subprocess, sys, unicodedata
from books import TALES, PROSE, M

SKIP = re.compile(r"preface|introduct|contents|illustrations|^notes?\b|footnote|index|glossary|appendix|dedicat|"
                  r"transcrib|advertis|catalog|bibliograph|by the same|acknowledg|publish|foreword|vocabulary|"
                  r"to the reader|about the author|author's note|list of|works of|colophon|advert|books by", re.I)
CHAPTER = re.compile(r"^(the )?(chapter|part|book|section|story|canto|volume|letter|stave)\b.{0,20}$|^[ivxlc\d]+[.:]?$", re.I)
BAD = re.compile(r"gutenberg|transcriber|https?:|www\.|copyright|e-?book|e-?text|\bscanned\b|proofread|printed (by|in)\b|"
                 r"illustrated by|all rights|translated (by|from)|\[pg|edition of|published", re.I)
ADS = re.compile(r"\b(16mo|12mo|8vo|post-?paid|handsome box|booksellers|Literary World|in cloth)\b|\$\d+\.\d\d|price,? \$", re.I)
# chapters with slurs that a built-in model should not learn
SLUR = re.compile(r"\b(nigger|niggah|darky|darkey|darkies|pickaninn|piccaninn|coons?\b|chinks?\b|japs?\b|half-breed|halfbreed|redskin|kaffir|sheeny|dago)", re.I)
KEEP = set(map(chr, range(32, 127))) | set("\n—éèêëñæœÆŒöäüïôâáàçóíúûîÉÈÄÖÜ£")
ELIDED = r"(?!(?:tis|twas|twere|twill|em|im|er|till|cause|bout|ave|as|ad|ope|neath|mid|gainst|round|ead|ow|ere|ard)\b)"


def clean_inline(s):
    s = s.translate(str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "`": "'", "´": "'", "\u00a0": " ",
                                   "–": "—", "\ufeff": "", "\u00ad": "", "…": "...", "\t": " "}))
    s = re.sub(r"\s*(--+|—+)\s*", "—", s)
    s = re.sub(r"\[(?:illustration|footnote|sidenote|pg|page|note|greek)[^\]]*\]|\[\d+\]|\{\d+\}|\(\d+\)|\[[a-z]\]", "", s, flags=re.I)
    s = re.sub(r"[_=#~|^]|\*+", "", s).replace("''", '"')
    s = re.sub(r" ?(\. ){2,}\.?", "... ", s)
    s = re.sub(r" +", " ", s).strip()
    if '"' not in s and re.search(r"[,.!?;:—]'(?=\s|$|—)", s):   # 'British' dialogue quotes -> "double"
        s = re.sub(r"(?<=[,.!?;:—])'(?=\s|$|—|\))", '"', s)
        s = re.sub(r"(?<![\w\"])'" + ELIDED + r"(?=[\w—])", '"', s)
    return s


def charset(s):
    """Drop or fold the few characters outside the allowed set."""
    if set(s) <= KEEP:
        return s
    return "".join(c if c in KEEP else "".join(d for d in unicodedata.normalize("NFKD", c) if d in KEEP) for c in s)


def body_of(raw, md):
    raw = raw.replace("\r\n", "\n").replace("\r", "\n")
    if md:
        return re.sub(r"(?m)^(#.*|-{3,})$", r"\n\n\n\1\n\n", raw)
    m = re.search(r"\*\*\* ?START OF.*?\*\*\*", raw, re.S) or re.search(r"\*END[* ]THE SMALL PRINT.*", raw)
    if m:
        raw = raw[m.end():]
    m = re.search(r"\*\*\* ?END OF|\n\s*End of (the |this )?Project Gutenberg", raw)
    return raw[:m.start()] if m else raw


def segments(raw, md):
    """Yield (heading, [paragraphs]) for each chapter or story."""
    raw = re.sub(r"\[(?:Illustration|Footnote|Transcriber)[^\]]*\]", "", raw)
    head, body, pending = "", [], []
    for m in re.finditer(r"(\n*)((?:[^\n]+\n?)+)", re.sub(r"(?m)^[ \t]+$", "", body_of(raw, md))):
        gap, block = len(m[1]), m[2].rstrip("\n")
        lines = [l for l in block.split("\n") if l.strip()]
        if not lines or re.fullmatch(r"[\s*.\-_—+=#]*", block):
            continue
        text = clean_inline(" ".join(l.strip() for l in lines))
        letters = [c for c in text[:200] if c.isalpha()]
        if not letters:
            continue
        upper = sum(map(str.isupper, letters)) / len(letters)
        short = len(lines) <= 3 and len(text) < 90
        is_head = lines[0].startswith("#") if md else short and (
            upper > 0.8 or CHAPTER.match(text) or (gap >= 3 and not re.search(r"[.,!?;:\"']$", text)))
        if is_head:
            if body:
                yield head, body
                head, body, pending = "", [], []
            pending.append(text)
            named = [p for p in pending if not CHAPTER.match(p)] or pending
            head = named[-1]
            continue
        if BAD.search(text) and (len(text) < 400 or "utenberg" in text):
            continue
        if upper > 0.5 or sum(map(str.isdigit, text[:200])) > 0.08 * len(text[:200]):
            continue
        if (len(lines) > 1 and not md and sum(len(l.strip()) for l in lines) / len(lines) < 46      # verse or a list
                and sum(bool(re.match(r"\W*[A-Z]", l)) for l in lines) > 0.7 * len(lines)):
            if len(lines) <= 8 and body:
                body.append("\n".join(clean_inline(l) for l in lines))
            continue
        if len(text) < 40 and not re.search(r"[.!?\"']$", text):
            continue
        body.append(text)
    if body:
        yield head, body


def tidy_heading(h):
    h = re.sub(r"^(chapter|part|story)?\s*[ivxlc\d]+\s*[.:—-]+\s*", "", h, flags=re.I).strip(" .:—\"'")
    if "::" in h or CHAPTER.match(h) or not re.search("[a-z]{3}", h, re.I):
        return ""
    small = "a an and as at but by for from in of on or the to with into".split()
    w = h.lower().split()
    return " ".join(x if i and x in small else x[:1].upper() + x[1:] for i, x in enumerate(w))


def unshout(p):
    """'ONCE upon a time' -> 'Once upon a time' at a chapter's start."""
    def low(m):
        w = m[0]
        return w if w == "I" else w.lower()
    m = re.match(r"\"?(?:[A-Z][A-Z'’]*[, ]+)+", p)
    if m and sum(c.isupper() for c in m[0]) > 1:
        s = re.sub(r"[A-Z']+", low, m[0])
        i = next(i for i, c in enumerate(s) if c.isalpha())
        p = s[:i] + s[i].upper() + s[i + 1:] + p[m.end():]
    return p


def key(p):
    return hashlib.md5(re.sub(r"[^a-z]", "", p.lower()).encode()).digest()[:8]


def main(snap, out):
    seen, stats, prov, recs = set(), collections.Counter(), [], []
    trees = {}
    for group, table in (("t", TALES), ("p", PROSE)):
        for (repo, author), pat in table.items():
            git = ["git", "--git-dir", f"{snap}/{repo.replace('/', '+')}/repo"]
            if repo not in trees:
                ls = subprocess.run(git + ["ls-tree", "-r", "-z", "HEAD"], capture_output=True, check=True).stdout.decode()
                trees[repo] = sorted((r.split("\t", 1)[1], r.split()[2]) for r in ls.split("\0") if r)
            for path, blob in trees[repo]:
                if "/" not in path or not path.endswith((".txt", ".md")):
                    continue
                a, title = path.rsplit("/", 1)
                title = title.rsplit(".", 1)[0]
                if not a.startswith(author) or not re.search(pat, title) or (repo, path) in stats:
                    continue
                stats[repo, path] = 1
                raw = subprocess.run(git + ["cat-file", "blob", blob], capture_output=True).stdout.decode("utf8", "replace")
                if re.search(r"(?m)^Language: (?!English)", raw[:5000]) or "\ufffd" * 3 in raw:
                    continue
                tr = re.search(r"(?m)^Translator: (.*)|^_?Translated by ([^_\n]*)", raw[:6000])
                kept = total = 0
                for h, ps in segments(raw, repo == M):
                    n = sum(map(len, ps))
                    total += n
                    text = "\n\n".join(ps)
                    words = re.findall(r"[a-z]+", text.lower())
                    func = sum(w in {"the", "and", "of", "to", "a", "he", "she", "was", "in", "it"} for w in words)
                    if n < 500 or SKIP.search(h) or func < 0.14 * len(words) or n < 40 * len(ps):
                        continue
                    if SLUR.search(text) or ADS.search(text):
                        stats["filtered_chars"] += n
                        continue
                    ks = [key(p) for p in ps if len(p) > 60]
                    if sum(k in seen for k in ks) > 0.3 * len(ks):
                        stats["dup_chars"] += n
                        continue
                    seen.update(ks)
                    ps[0] = unshout(ps[0])
                    recs.append({"g": group, "b": title[:60], "h": tidy_heading(h), "x": charset("\n\n".join(ps))})
                    kept += n
                if kept:
                    stats[group] += kept
                    prov.append([x.replace("\r", ": ").strip() for x in (group, title, a, (tr[1] or tr[2] or "") if tr else "", repo, path, str(kept))])
    with lzma.open(f"{out}/corpus.jsonl.xz", "wt", encoding="utf8", preset=2) as f:
        for r in recs:
            f.write(json.dumps(r, ensure_ascii=False) + "\n")
    with open(f"{out}/provenance.tsv", "w", encoding="utf8") as f:
        f.write("group\ttitle\tauthor\ttranslator\trepository\tpath\tcharacters_kept\n")
        f.writelines("\t".join(p) + "\n" for p in sorted(prov))
    print(len(prov), "books,", len(recs), "segments; characters: tales", stats["t"], "prose", stats["p"], "duplicates dropped", stats["dup_chars"], "filtered", stats["filtered_chars"])


if __name__ == "__main__":
    main(*sys.argv[1:3])
