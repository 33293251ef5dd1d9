const MOST_REMEMBERED = 100_000

/** The latest calls, oldest first. The cap keeps a stack that runs for days from filling memory. */
export class Calls<Call> {
  #calls: Call[] = []

  add(call: Call): void {
    this.#calls.push(call)
    if (this.#calls.length > 2 * MOST_REMEMBERED) this.#calls = this.#calls.slice(-MOST_REMEMBERED)
  }

  latest(): Call[] {
    return this.#calls.slice(-MOST_REMEMBERED)
  }
}
