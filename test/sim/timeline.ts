type Event = { at: number; order: number; run: () => unknown }

/** Upcoming events in order of time; at the same instant, in the order they were planned. A binary heap. */
export class Timeline {
  private readonly heap: Event[] = []
  private planned = 0

  at(at: number, run: () => unknown): void {
    this.heap.push({ at, order: this.planned++, run })
    let i = this.heap.length - 1
    while (i > 0 && this.before(i, (i - 1) >> 1)) i = this.swap(i, (i - 1) >> 1)
  }

  /** Moves the clock from event to event until none is left before `until`. */
  async play(clock: { now: number }, until: number): Promise<void> {
    for (let first = this.heap[0]; first && first.at < until; first = this.heap[0]) {
      this.takeFirst()
      clock.now = Math.max(clock.now, first.at)
      await first.run()
    }
    clock.now = until
  }

  private takeFirst(): void {
    const last = this.heap.pop()
    if (!last || this.heap.length === 0) return
    this.heap[0] = last
    for (let i = 0; ; ) {
      const [left, right] = [2 * i + 1, 2 * i + 2]
      let least = i
      if (left < this.heap.length && this.before(left, least)) least = left
      if (right < this.heap.length && this.before(right, least)) least = right
      if (least === i) return
      i = this.swap(i, least)
    }
  }

  private before(i: number, j: number): boolean {
    const [a, b] = [this.heap[i] as Event, this.heap[j] as Event]
    return a.at !== b.at ? a.at < b.at : a.order < b.order
  }

  private swap(i: number, j: number): number {
    const held = this.heap[i] as Event
    this.heap[i] = this.heap[j] as Event
    this.heap[j] = held
    return j
  }
}
