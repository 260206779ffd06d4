// The sources of a model's files: what the Worker requests of src/models/source.ts, and what it gets.

/**
 * A source for `open`: "org/name[@revision][:Q4_K_M]" on the hub; the URL of a folder or of a .gguf file; files of the
 * visitor's, which are read in place.
 */
export type Source = string | URL | File | File[] | FileSystemDirectoryHandle;

/** The source that reaches the Worker: a URL cannot be posted, so that it has become its text. */
export type PostedSource = Exclude<Source, URL>;

/** A model in the browser's own files. Sizes are bytes, `lastUsed` milliseconds since 1970. */
export interface StoredModel {
  name: string;
  revision: string;
  size: number;
  /** False while some of its bytes are missing. */
  complete: boolean;
  lastUsed: number;
}

/** How far the bytes of a model are. `loaded` and `total` are bytes of all files together. */
export interface DownloadProgress {
  phase: "look-up" | "download" | "verify";
  loaded: number;
  total: number;
  /** Whether these bytes were here already. */
  cached: boolean;
  /** The file in flight. */
  file?: string;
  bytesPerSecond?: number;
}

/** One file of an opened model. */
export interface ModelFile {
  /** The name in the model's folder: "config.json", "model-00001-of-00002.safetensors". */
  name: string;
  /** Bytes. */
  size: number;
  /**
   * Fills `into` with the bytes from `offset`, wholly, or fails with an Error that names the file. A
   * promise suspends the module; nothing at all comes back where the bytes are at hand. `into` is a view
   * of the module's memory: valid until the read has ended, and not to be kept.
   */
  read(offset: number, into: Uint8Array): void | Promise<void>;
}

export interface ResolvedModel {
  name: string;
  files: ModelFile[];
  /**
   * Settles when all bytes are here and have the right hash; fails as reads do. What was read before may be
   * wrong until then, so that a model counts as opened only after it.
   */
  complete?: Promise<void>;
  /** Bytes of these files that are here already, of a visitor's files all. */
  cachedBytes?: number;
  /** Ends downloads that are still in flight and gives file handles back; called once, always. */
  close(): void | Promise<void>;
}

/** The part of `Module` (src/host/module.ts) that the names of the hub need. */
export interface VerbCaller {
  call(verb: string, values: object): Promise<unknown>;
}

export interface ResolveOptions {
  /** For the verbs hub_name and hub_files. */
  module: VerbCaller;
  /** Ends looking up and downloading; `resolve` and reads in flight then fail with its reason. */
  signal: AbortSignal;
  onProgress(progress: DownloadProgress): void;
  /** opfs: kept between visits; none: read from the network piece by piece. */
  cache: "opfs" | "none";
  /** The hub's access token, sent to `endpoint` alone. */
  token?: string;
  /** Another hub with the same API; the default is the public one. */
  endpoint?: string;
  /** Whether these models may be removed to make room; asked of the page. */
  onEvict(models: StoredModel[]): Promise<boolean>;
  onNotice(text: string): void;
  /** For `check`: the headers are enough, so that nothing is downloaded ahead or stored. */
  headersOnly?: boolean;
}

/**
 * Finds the files of a model; their bytes may still be on their way when it returns. Fails with a
 * TokamakError: invalid-input, network, quota, hash or cancelled.
 */
export type Resolve = (source: PostedSource, options: ResolveOptions) => Promise<ResolvedModel>;
