/**
 * How raw TCP crosses a WebSocket: binary frames hold the bytes. A client that speaks this sub-protocol may also end
 * its half with an empty frame. Both sides report in text frames how many bytes they have passed on, so that neither
 * sends more than a window ahead of a peer that has stopped reading.
 */
export const FORWARD_PROTOCOL = 'tcp.proving-ground'
/**
 * The same, but the machine sees the connection only after the client's first text frame, and ours tells the client
 * that it has. So a client may open many at once, and the machine still sees them in the client's order.
 */
export const IN_TURN_PROTOCOL = 'in-turn.tcp.proving-ground'
const WINDOW_BYTES = 1024 * 1024
/** Reports less often than every frame. */
const REPORT_BYTES = WINDOW_BYTES / 4

/** Counts what was sent and not yet passed on by the peer. */
export class Window {
  #ahead = 0
  #released = false
  #wake = () => {}

  isFull(): boolean {
    return this.#ahead >= WINDOW_BYTES && !this.#released
  }

  /** Resolves once another frame may be sent. */
  async room(): Promise<void> {
    while (this.isFull())
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
  }

  sent(bytes: number): void {
    this.#ahead += bytes
  }

  /** The peer's report. */
  passedOn(bytes: number): void {
    this.#ahead -= bytes
    this.#wake()
  }

  /** The connection is over: nothing waits for it any longer. */
  release(): void {
    this.#released = true
    this.#wake()
  }
}

/** Collects what to report to the peer. */
export function reporter(report: (bytes: number) => void): (bytes: number) => void {
  let unsaid = 0
  return (bytes) => {
    unsaid += bytes
    if (unsaid < REPORT_BYTES) return
    report(unsaid)
    unsaid = 0
  }
}
