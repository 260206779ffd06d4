// Files and folders that a visitor drops, anywhere on the page. They are read where they lie.
import type { Source } from "tokamak-web";

export interface Dropped {
  source: Source;
  name: string;
}

/**
 * While files are over the page its root says so; `take` gets what is dropped, or why it is nothing, unless `claims`
 * has taken the files. That holds as long as `panel` is shown.
 */
export function takeDrops(panel: HTMLElement, take: (dropped: Promise<Dropped>) => void, claims: (files: File[]) => boolean = () => false): void {
  const over = (is: boolean) => document.documentElement.toggleAttribute("data-dropping", is);
  const hasFiles = (event: DragEvent) => panel.isConnected && (event.dataTransfer?.types.includes("Files") ?? false);
  addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    over(true);
  });
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) over(false); // it has left the window
  });
  addEventListener("drop", (event) => {
    over(false);
    if (!hasFiles(event)) return;
    event.preventDefault();
    if (claims([...(event.dataTransfer?.files ?? [])])) return;
    take(dropped([...(event.dataTransfer?.items ?? [])].filter(({ kind }) => kind === "file")));
  });
}

type WithHandle = DataTransferItem & { getAsFileSystemHandle?(): Promise<FileSystemHandle | null> };

/** The items are there only until the first wait. */
async function dropped(items: DataTransferItem[]): Promise<Dropped> {
  const entries = items.map((item) => item.webkitGetAsEntry());
  const files = items.map((item) => item.getAsFile()).filter((file) => file !== null);
  const folder = entries.find((entry) => entry?.isDirectory) as FileSystemDirectoryEntry | undefined;
  if (!folder) {
    if (!files[0]) throw new Error("What was dropped is no file.");
    return { source: files, name: files.find(({ name }) => /\.gguf$/i.test(name))?.name ?? files[0].name };
  }
  if (items.length > 1) throw new Error("Drop one folder, or the files of one model.");
  const handle = await (items[0] as WithHandle).getAsFileSystemHandle?.();
  const source = handle ? (handle as FileSystemDirectoryHandle) : await filesOf(folder);
  return { source, name: folder.name };
}

/** The files of its uppermost level. */
async function filesOf(folder: FileSystemDirectoryEntry): Promise<File[]> {
  const reader = folder.createReader();
  const found: File[] = [];
  for (;;) {
    // Some browsers give a hundred at a time, and none at the end.
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (entries.length === 0) return found;
    for (const entry of entries) {
      if (entry.isFile) found.push(await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject)));
    }
  }
}
