// Types of the API: the views of `inspect` as data. Sizes are bytes of the whole model unless a step's are named.

export type View = "summary" | "graph" | "fused" | "plan" | "weights" | "memory" | "support";

export interface InspectOptions {
  /** A table for a screen unless given; `text` is what the graph and the plan are parsed from, `dot` a drawing's. */
  form?: "table" | "text" | "dot" | "json";
  /** Tokens of the step whose costs are shown, and tokens before it. */
  tokens?: number;
  depth?: number;
}

export interface ModelSummary {
  model: string;
  architecture: string;
  parameters: number;
  /** Parameters by the type that they have in the files, and on the device where it differs. */
  element_types: Record<string, number>;
  device_types?: Record<string, number>;
  layers: number;
  /** A list where layers differ. */
  width: number | number[];
  vocabulary: number;
  context: number;
  max_context: number;
  chat_template: boolean;
  files: { file: string; bytes: number }[];
  device: string;
  backend: "webgpu" | "cpu";
  /** How often each pass of fusion has found something, and launches of a step by the name of its phase. */
  fusions: Record<string, number>;
  launches: Record<string, { fused: number; unfused: number }>;
  memory: { constants: number; kv_cache: number; activations: number; other: number; images?: number; total: number };
  [more: string]: unknown;
}

export interface GraphValue {
  id: number;
  name: string;
  storage: string;
  dtype: string;
  shape: number[];
  bytes: number;
  /** The tensors that a constant is made of. */
  recipe?: string;
  window?: number;
}

export interface GraphNode {
  op: string;
  attributes: Record<string, unknown>;
  /** Ids of values. */
  inputs: number[];
  outputs: number[];
  bytes: number;
  flops: number;
}

/** The operations of a step, as the architecture writes it or after fusion. */
export interface ModelGraph {
  tokens: number;
  depth: number;
  values: GraphValue[];
  nodes: GraphNode[];
  result: number;
}

export interface PlanBuffer {
  id: number;
  use: string;
  bytes: number;
  on_host?: boolean;
  /** The name of weights and states. */
  tensor?: string;
  type?: string;
}

export interface PlanStep {
  op: string;
  kernel: string;
  inputs: { buffer: number; type: string }[];
  outputs: { buffer: number; type: string }[];
  /** Workgroups, where the kernel runs on a GPU. */
  grid?: [number, number, number];
  bytes: number;
  flops: number;
  /** The kernels that do not run there, each with the reason. */
  passed_over: string[];
}

export interface PlanPhase {
  name: string;
  max_tokens: number;
  from_position?: number;
  launches: number;
  /** Moved and computed by a step. */
  bytes: number;
  flops: number;
  tensors: number;
  tensor_bytes: number;
  steps: PlanStep[];
}

/** The kernels that run, in their order. */
export interface ModelPlan {
  backend: "webgpu" | "cpu";
  device: string;
  depth: number;
  buffers: PlanBuffer[];
  phases: PlanPhase[];
}

export interface WeightUse {
  tensors: number;
  parameters: number;
  bytes: number;
}

export interface ModelWeights {
  used: WeightUse;
  skipped: WeightUse;
  tensors: { name: string; type: string; bytes: number; file?: string; device: string; constant: string }[];
}

export interface ModelMemory {
  memory: { what: string; tensors: number; buffers: number; bytes: number }[];
  kept: { kept: string; layers: number; positions: number; position_bytes: number; bytes: number }[];
  phases: { name: string; activations: number; activation_bytes: number }[];
  buffers: PlanBuffer[];
  /** Beside that, of a model that sees. */
  images?: ModelMemory;
}

/** Each view in the form "json"; `support` has a row for each part of the model. */
export interface Views {
  summary: ModelSummary;
  graph: ModelGraph;
  fused: ModelGraph;
  plan: ModelPlan;
  weights: ModelWeights;
  memory: ModelMemory;
  support: Record<string, string>[];
}

export interface Inspect {
  <Name extends View>(view: Name, options: InspectOptions & { form: "json" }): Promise<Views[Name]>;
  (view: View, options?: InspectOptions & { form?: "table" | "text" | "dot" }): Promise<string>;
  (view: View, options?: InspectOptions): Promise<string | Views[View]>;
}
