// The site's pages in the order of its navigation, for the build, which writes the header, and for the pages' scripts.

export interface PageLink {
  file: string;
  title: string;
}

/** The pages that somebody uses, those that show what happens, and the documents. */
export const GROUPS: { label: string; pages: PageLink[] }[] = [
  {
    label: "Use",
    pages: [
      { file: "chat.html", title: "Chat" },
      { file: "listen.html", title: "Listen" },
      { file: "memory.html", title: "Memory" },
    ],
  },
  {
    label: "Look inside",
    pages: [
      { file: "timeline.html", title: "Timeline" },
      { file: "kernels.html", title: "Kernels" },
      { file: "inspect.html", title: "Inspect" },
      { file: "validate.html", title: "Validate" },
      { file: "bench.html", title: "Bench" },
    ],
  },
  { label: "Read", pages: [{ file: "docs.html", title: "Docs" }] },
];
