import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'

/** How many ms before the line is free it accepts more: a few packets, so that it never idles and urgent responses don't wait long. */
const AHEAD = 14

/** The server's end of a slow connection: everything takes half the latency, and what the server sends is limited by the bandwidth. */
export class SlowLine extends Duplex {
  #socket: Socket
  #bytesPerMs: number
  #delay: number
  #freeAt = 0
  #received: Promise<unknown> = Promise.resolve()
  #sent: Promise<unknown> = Promise.resolve()

  constructor(socket: Socket, { latency, kilobits }: { latency: number; kilobits: number }) {
    super()
    this.#socket = socket.setNoDelay(true)
    this.#bytesPerMs = kilobits / 8
    this.#delay = latency / 2
    socket.on('data', (bytes) => {
      const arrival = performance.now() + this.#delay
      this.#received = this.#received.then(() => until(arrival)).then(() => this.push(bytes))
    })
    socket.on('error', () => this.destroy())
    socket.on('close', () => this.destroy())
  }

  override _read(): void {}

  override _write(bytes: Buffer, _encoding: string, written: () => void): void {
    this.#freeAt = Math.max(performance.now(), this.#freeAt) + bytes.length / this.#bytesPerMs
    const arrival = this.#freeAt + this.#delay
    this.#sent = this.#sent.then(() => until(arrival)).then(() => this.#socket.destroyed || this.#socket.write(bytes))
    void until(this.#freeAt - AHEAD).then(written)
  }
}

async function until(time: number): Promise<void> {
  const left = time - performance.now()
  if (left > 0) await wait(left)
}
