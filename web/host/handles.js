// Objects of the page as numbers above 0. A number that was given back is used again.
export class Handles {
  #objects = [null];
  #free = [];

  add(object) {
    if (object === null || object === undefined) return 0;
    const number = this.#free.pop() ?? this.#objects.length;
    this.#objects[number] = object;
    return number;
  }

  get(number) {
    const object = this.#objects[number >>> 0];
    if (!object) throw new Error(`There is no object ${number}.`);
    return object;
  }

  /** Gives the number back; what it stood for. */
  take(number) {
    const object = this.get(number);
    this.#objects[number >>> 0] = null;
    this.#free.push(number >>> 0);
    return object;
  }

  get size() {
    return this.#objects.length - 1 - this.#free.length;
  }
}
