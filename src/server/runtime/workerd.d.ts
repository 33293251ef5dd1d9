/** The parts of workerd that Node lacks; the rest of workers-types would clash with Node's types. */
declare module 'cloudflare:workers' {
  import type { DurableObjectState, WebSocket } from '@cloudflare/workers-types'

  export abstract class DurableObject<E = unknown> {
    protected ctx: DurableObjectState
    protected env: E
    constructor(ctx: DurableObjectState, env: E)
    fetch?(request: Request): Response | Promise<Response>
    alarm?(): Promise<void>
    webSocketMessage?(socket: WebSocket, message: string | ArrayBuffer): Promise<void>
    webSocketClose?(socket: WebSocket, code: number, reason: string, wasClean: boolean): Promise<void>
  }
}

declare const IdentityTransformStream: new () => TransformStream<Uint8Array, Uint8Array>
declare const FixedLengthStream: new (length: number) => TransformStream<Uint8Array, Uint8Array>
declare const WebSocketPair: new () => {
  0: import('@cloudflare/workers-types').WebSocket
  1: import('@cloudflare/workers-types').WebSocket
}
declare const WebSocketRequestResponsePair: new (
  request: string,
  response: string,
) => import('@cloudflare/workers-types').WebSocketRequestResponsePair
