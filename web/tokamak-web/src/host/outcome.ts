// How things end, as src/backend/webgpu/web/imports.h numbers them.
export const FINE = 0;
export const INVALID = 1;
export const NO_MEMORY = 2;
export const INTERNAL = 3;
export const LOST = 4;
export type Outcome = 0 | 1 | 2 | 3 | 4;

export function outcomeOf(error: GPUError): Outcome {
  if (error instanceof GPUOutOfMemoryError) return NO_MEMORY;
  return error instanceof GPUInternalError ? INTERNAL : INVALID;
}
