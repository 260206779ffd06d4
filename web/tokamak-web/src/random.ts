/** A seed, which a text that has to be computed again has as well. */
export const randomSeed = (): number => crypto.getRandomValues(new Uint32Array(1))[0]!;

/** An id of nine letters and digits, which is what some templates insist on. */
export const freshId = (): string => crypto.randomUUID().replaceAll("-", "").slice(0, 9);
