/** A call as it came in, whatever became of it. `at` is in ms of the stack's clock. */
export type Ec2Call = { action: string; clientToken?: string; instanceIds?: string[]; at: number }

const mostRemembered = 20_000

/** The latest calls, oldest first; a stack left running for days must not fill the memory with them. */
export class Calls {
  #calls: Ec2Call[] = []

  add(call: Ec2Call): void {
    this.#calls.push(call)
    if (this.#calls.length > 2 * mostRemembered) this.#calls = this.#calls.slice(-mostRemembered)
  }

  latest(): Ec2Call[] {
    return this.#calls.slice(-mostRemembered)
  }
}
