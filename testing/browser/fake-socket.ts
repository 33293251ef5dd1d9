import { act } from 'react'
import { SUB_PROTOCOL } from '../../src/domain/cable.ts'

/** Replaces the browser's WebSocket; the test controls the server's end. */
export class FakeSocket {
  static readonly CONNECTING = 0
  static readonly OPEN = 1
  static readonly CLOSING = 2
  static readonly CLOSED = 3
  /** Every socket the page opened, the newest last. */
  static opened: FakeSocket[] = []

  protocol = SUB_PROTOCOL
  readyState: number = FakeSocket.CONNECTING
  /** What the page sent, in order. */
  readonly sent: string[] = []
  readonly url: string

  private readonly listeners: [type: string, listener: (event: Event) => void][] = []

  constructor(url: string) {
    this.url = url
    FakeSocket.opened.push(this)
  }

  addEventListener(type: string, listener: (event: Event) => void): void {
    this.listeners.push([type, listener])
  }

  send(frame: string): void {
    this.sent.push(frame)
  }

  close(): void {
    this.readyState = FakeSocket.CLOSED
    this.tell(new Event('close'))
  }

  // What the server does.

  accept(): Promise<void> {
    this.readyState = FakeSocket.OPEN
    return act(async () => this.tell(new Event('open')))
  }

  say(frame: string): Promise<void> {
    return act(async () => this.tell(new MessageEvent('message', { data: frame })))
  }

  drop(): Promise<void> {
    return act(async () => this.close())
  }

  private tell(event: Event): void {
    for (const [type, listener] of this.listeners) if (type === event.type) listener(event)
    const own = this as unknown as Record<string, ((event: Event) => void) | undefined>
    own[`on${event.type}`]?.(event)
  }
}
