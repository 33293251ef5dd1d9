import { createServer, type Server } from 'node:http'
import { publicAddress } from './addresses.ts'
import type { Instance } from './instance.ts'
import { answerPage, type PageContext } from './web-page.ts'

const retryMs = 5000
/** A fleet of thousands must not use up the machine's open files: only its newest instances have pages. */
const mostPages = 500

type Listener = { server: Server; ready: Promise<void>; waiting: boolean; failedAt: number | null }

/** Serves the page of each running instance, up to the newest 500, on its own loopback address. */
export class WebListeners {
  readonly #listeners = new Map<string, Listener>()
  readonly #port: number
  readonly #page: PageContext
  readonly #log: (sentence: string) => void
  #closed = false

  constructor(options: { port: number; page: PageContext; log: (sentence: string) => void }) {
    this.#port = options.port
    this.#page = options.page
    this.#log = options.log
  }

  /** Opens pages for running instances and closes the rest. Resolves once every page that can open responds. */
  async follow(all: Instance[]): Promise<void> {
    if (this.#closed) return
    const running = all.slice(-mostPages)
    const ids = new Set(running.map((instance) => instance.id))
    const gone = [...this.#listeners.keys()].filter((id) => !ids.has(id))
    const closing = gone.map((id) => this.#close(id))
    for (const instance of running) {
      const listener = this.#listeners.get(instance.id)
      if (!listener) this.#open(instance, true)
      // By now, the address may be available.
      else if (listener.failedAt !== null && performance.now() - listener.failedAt > retryMs)
        this.#open(instance, false)
    }
    const opening = [...this.#listeners.values()].filter((listener) => listener.waiting)
    await Promise.all([...closing, ...opening.map((listener) => listener.ready)])
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#listeners.keys()].map((id) => this.#close(id)))
  }

  #open(instance: Instance, complain: boolean): void {
    const server = createServer((request, response) => void answerPage(instance, this.#page, request, response))
    const address = publicAddress(instance.slot)
    const listener: Listener = { server, waiting: true, failedAt: null, ready: Promise.resolve() }
    listener.ready = new Promise<void>((resolve) => {
      server.once('listening', resolve)
      server.on('error', (error: NodeJS.ErrnoException) => {
        listener.failedAt = performance.now()
        if (complain) this.#log(unreachable(instance, address, this.#port, error))
        resolve()
      })
      server.listen(this.#port, address)
    }).then(() => {
      listener.waiting = false
    })
    this.#listeners.set(instance.id, listener)
  }

  async #close(id: string): Promise<void> {
    const listener = this.#listeners.get(id)
    if (!listener) return
    this.#listeners.delete(id)
    // If we close a server before it listens, it still starts listening.
    await listener.ready
    if (!listener.server.listening) return
    const closed = new Promise((resolve) => listener.server.close(resolve))
    listener.server.closeAllConnections()
    await closed
  }
}

function unreachable(instance: Instance, address: string, port: number, error: NodeJS.ErrnoException): string {
  const remedies: Record<string, string> = {
    EADDRNOTAVAIL: `give this machine the address with: sudo ifconfig lo0 alias ${address}`,
    EADDRINUSE: `end the program that listens on port ${port} there`,
    EMFILE: 'allow more open files with: ulimit -n 8192',
  }
  const remedy = remedies[error.code ?? ''] ?? 'see the error'
  return `EC2 stand-in: ${instance.id} runs but http://${address}:${port} cannot be opened (${error.code}): ${remedy}.`
}
