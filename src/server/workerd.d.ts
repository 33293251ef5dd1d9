/** What workerd offers beyond the browser's globals; the rest of workers-types would collide with lib.dom. */
declare module 'cloudflare:workers' {
  import type { DurableObjectState } from '@cloudflare/workers-types'

  export abstract class DurableObject<E = unknown> {
    protected ctx: DurableObjectState
    protected env: E
    constructor(ctx: DurableObjectState, env: E)
  }
}

declare const WebSocketPair: new () => {
  0: import('@cloudflare/workers-types').WebSocket
  1: import('@cloudflare/workers-types').WebSocket
}
declare const WebSocketRequestResponsePair: new (
  request: string,
  response: string,
) => import('@cloudflare/workers-types').WebSocketRequestResponsePair
