import type { WorkerModule } from './build.ts'

/**
 * Wraps the Worker in an entry that queues fetches as the platform does and workerd doesn't. In one invocation (a
 * request, trigger, or alarm), at most six fetches wait for response headers. The seventh waits for one of them while
 * its caller's timers run.
 */
export function sixConnections(modules: WorkerModule[]): WorkerModule[] {
  const entry = `
    import { invocation } from './six-connections.js'
    import worker, { EventSender as Sender, JobChannel as Original } from './${modules[0]?.path}'
    export * from './${modules[0]?.path}'
    export default {
      ...worker,
      fetch: (...args) => invocation(() => worker.fetch(...args)),
      scheduled: (...args) => invocation(() => worker.scheduled(...args)),
    }
    export class JobChannel extends Original {
      alarm(...args) { return invocation(() => super.alarm(...args)) }
    }
    export class EventSender extends Sender {
      alarm(...args) { return invocation(() => super.alarm(...args)) }
    }`
  return [
    { type: 'ESModule', path: 'queued.js', contents: entry },
    // Runs first, so a library that saves `fetch` saves this one.
    { type: 'ESModule', path: 'six-connections.js', contents: SIX_CONNECTIONS },
    ...modules,
  ]
}

const SIX_CONNECTIONS = `
  import { AsyncLocalStorage } from 'node:async_hooks'
  const invocations = new AsyncLocalStorage()
  const connect = globalThis.fetch
  export const invocation = (run) => invocations.run({ open: 0, queue: [] }, run)

  globalThis.fetch = async (input, init) => {
    const mine = invocations.getStore()
    if (!mine) return connect(input, init)
    if (mine.open === 6) await turn(mine, init?.signal ?? input.signal)
    else mine.open++
    try {
      return await connect(input, init)
    } finally {
      const next = mine.queue.shift()
      if (next) next()
      else mine.open--
    }
  }

  function turn({ queue }, signal) {
    return new Promise((go, giveUp) => {
      queue.push(go)
      signal?.addEventListener('abort', () => {
        const at = queue.indexOf(go)
        if (at < 0) return
        queue.splice(at, 1)
        giveUp(signal.reason)
      })
    })
  }`
