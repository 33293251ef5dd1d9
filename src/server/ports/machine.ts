/** The one way to the machines' private addresses. `address` is like `10.42.1.5:5173`. */
export type Machine = {
  /** Sends an HTTP request or an upgrade there, and follows no redirect. `from`: whose method and body it has. */
  fetch(address: string, path: string, request: RequestInit, from?: Request): Promise<Response>
  /** Opens a TCP connection. Either side may end its half first. */
  connect(address: string): MachineSocket
}

export type MachineSocket = {
  opened: Promise<unknown>
  readable: ReadableStream<Uint8Array>
  writable: WritableStream<Uint8Array>
  close(): Promise<void>
}
