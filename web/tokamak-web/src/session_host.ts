// The part of its Worker that a session needs, so that a test can stand in for it.
import type { KernelChange } from "./api.ts";
import type { Files } from "./host/file.ts";
import type { DeviceWatch } from "./host/gpu.ts";
import type { Sql } from "./host/sql.ts";
import type { Waiting } from "./host/waiting.ts";
import type { UseStores } from "./memories.ts";
import type { Resolve } from "./models/types.ts";
import type { ToPage } from "./protocol.ts";

/** The part of `Module` that a session needs. */
export interface SessionModule {
  readonly files: Pick<Files, "add" | "remove">;
  readonly sql: Sql;
  call<Reply>(verb: string, values: object, signal?: AbortSignal): Promise<Reply>;
}

export interface StartOptions {
  wasm: string;
  twins: Record<string, string> | undefined;
  wait: Waiting["kind"] | undefined;
  alter: KernelChange | undefined;
  event(kind: string, values: unknown): void;
  play(id: number, samples: Float32Array): void;
  device: DeviceWatch;
  tell(line: string): void;
}

export interface Started {
  module: SessionModule;
  waiting: Waiting["kind"];
}

export interface SessionHost {
  post(message: ToPage): void;
  start(options: StartOptions): Promise<Started>;
  resolve: Resolve;
  stores: UseStores;
}
