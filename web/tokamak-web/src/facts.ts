// Types of the API: what is known of a device and of a model on it. Sizes are bytes, times seconds.

export interface Adapter {
  backend: "webgpu" | "cpu";
  name: string;
  driver: string;
  features: string[];
  limits: Record<string, number>;
  /** The best tier of kernels, by the features. */
  tier: number;
  /** A driver that computes on the CPU. */
  software: boolean;
  waiting: "jspi" | "asyncify";
}

/** A device that is assumed, with the limits that every one has. */
export interface AssumedDevice {
  features: ("shader-f16" | "subgroups" | "packed_4x8_integer_dot_product")[];
  /** Invocations of a subgroup, where it has those; 32 unless given. */
  subgroupSize?: number;
}

/** Bytes on the device. */
export interface DeviceMemory {
  weights: number;
  cache: number;
  activations: number;
  other: number;
  total: number;
}

export interface ModelFacts {
  name: string;
  architecture: string;
  layers: number;
  hidden: number;
  vocabulary: number;
  /** Tokens that fit here, and that the model was made for. */
  context: number;
  maxContext: number;
  quantization: string;
  /** Whether it gives vectors in place of texts. */
  embeds: boolean;
  /** Whether it reads images, writes down recordings, says texts. */
  sees: boolean;
  hears: boolean;
  speaks: boolean;
  hasTemplate: boolean;
  memory: DeviceMemory;
}

export interface LoadTimes {
  total: number;
  compile: number;
  upload: number;
  /** The time of the kernels' self-test. */
  test: number;
}

export interface Check {
  runs: boolean;
  /** Why it does not run. */
  reason?: string;
  verdict: "fits" | "tight" | "too-large" | "unsupported";
  /** Bytes to download, and bytes that are here. */
  download: number;
  cached: number;
  /** Bytes that the Worker's module takes at most beside the device's memory. */
  module: number;
  /** The bytes that the browser may still store; absent where it gives no number. */
  quota?: number;
  /** Absent where it does not run. */
  model?: ModelFacts;
  adapter: Adapter;
}
