// Types of the API: speed, the time of each dispatch, kernels and their tests. Sizes are bytes.

/** How far `bench`, `selfTest` or a memory is: a sentence, or what is done of all. */
export interface Doing {
  phase: "bench" | "self-test" | "memory";
  doing?: string;
  done?: number;
  total?: number;
}

export interface LongOptions {
  signal?: AbortSignal;
  onProgress?(doing: Doing): void;
}

/** The options of `tokamak bench`; lists give one test for each number. */
export interface BenchOptions extends LongOptions {
  /** Tokens of prompts that are read, and tokens that are generated; 0: no such test. */
  prompts?: number[];
  generate?: number[];
  /** Tokens that are in the cache before a test starts. */
  depths?: number[];
  sequences?: number[];
  repetitions?: number;
  /** Measure the bandwidth and the launches that lower bounds need. */
  bounds?: boolean;
  /** Compare with the CPU; small models are compared unless it says no. */
  check?: boolean;
}

export interface BenchTest {
  /** "pp512": a prompt that is read, "tg128": tokens that are generated; "@ d1024" after that many. */
  name: string;
  mean_tokens_per_second: number;
  tokens_per_second_deviation: number;
  median_seconds: number;
  floor_seconds: number | null;
  floor_share: number | null;
  bytes_per_token: number;
  bytes_per_second: number;
  launches_per_token: number;
}

export interface BenchCheck {
  correct: boolean;
  greedy_repeats: boolean;
  logits_finite: boolean;
  batches_are_right: boolean;
  max_relative_error: number | null;
  error_limit: number | null;
}

/** The result of `bench`, as `tokamak bench -o json` has it. */
export interface BenchReport {
  model: string;
  device: string;
  backend: string;
  tests: BenchTest[];
  bandwidth_bytes_per_second: number;
  launch_seconds: number;
  time_to_first_token_seconds: number | null;
  load: { total_seconds: number; plan_seconds: number; device_seconds: number; self_test_seconds: number };
  pipelines: { compiled: number; cached: number; seconds: number };
  memory_bytes: { device_peak: number };
  check: BenchCheck;
}

/** A dispatch of a step. */
export interface ProfileStep {
  op: string;
  kernel: string;
  problem: string;
  /** Microseconds. */
  us: number;
  weights: string[];
  layer?: number;
  bytes: number;
  flops: number;
  grid: [number, number, number];
  passed_over: string[];
}

/** The result of `profile`: a step of the model, each dispatch with its time, and what the page of `tokamak profile` draws of it. */
export interface StepProfile {
  model: string;
  architecture: string;
  device: string;
  driver: string;
  phase: string;
  tokens: number;
  depth: number;
  /** Bytes and operations a second that the device has shown, and seconds that a dispatch takes at least. */
  bandwidth: number;
  peak_flops: number;
  launch_seconds: number;
  /** The number of operations before fusion. */
  unfused_steps: number;
  steps: ProfileStep[];
}

export interface KernelTest {
  kernel: string;
  cases: number;
  /** "" where it computes right. */
  failure: string;
  /** The reason why it was not tested, "" where it was. */
  skipped: string;
}

/** The result of `selfTest`: every kernel against the CPU. */
export interface SelfTestReport {
  kernels: KernelTest[];
  seconds: number;
}

/** A change of a kernel's text: wherever `from` stands in its WGSL the device gets `to`. */
export interface KernelChange {
  kernel: string;
  from: string;
  to: string;
}

/** A step of the plan. */
export interface KernelPlace {
  phase: number;
  step: number;
}

/** Every kernel, the features that it needs ("none", or names with spaces between), and the steps that run it. */
export interface KernelCatalogue {
  kernels: { name: string; needs: string; launches: KernelPlace[] }[];
}

/** The kernel of a step; without a text where the model runs on the CPU. */
export interface KernelText {
  kernel: string;
  phase: string;
  wgsl?: string;
  /** The kernels that do not run there, each with the reason. */
  passedOver: string[];
}
