// Objects of the page as numbers above 0. A number that was given back is used again.
export class Handles {
  readonly #objects: (object | null)[] = [null];
  readonly #free: number[] = [];

  /** The object's number; 0 for null and undefined. */
  add(object: object | null | undefined): number {
    if (object === null || object === undefined) return 0;
    const number = this.#free.pop() ?? this.#objects.length;
    this.#objects[number] = object;
    return number;
  }

  /** Throws where the number stands for nothing. The type is the caller's to know. */
  get<T extends object>(number: number): T {
    const object = this.#objects[number >>> 0];
    if (!object) throw new Error(`There is no object ${number}.`);
    return object as T;
  }

  /** Gives the number back; what it stood for. */
  take<T extends object>(number: number): T {
    const object = this.get<T>(number);
    this.#objects[number >>> 0] = null;
    this.#free.push(number >>> 0);
    return object;
  }

  get size(): number {
    return this.#objects.length - 1 - this.#free.length;
  }
}
