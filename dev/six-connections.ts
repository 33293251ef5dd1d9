import type { WorkerModule } from './build.ts'

/**
 * The Worker with an entry around it that has it queue as the platform does and workerd does not: of one invocation (a request, a trigger, an
 * alarm) six fetches at most wait for their answer's head, the seventh for one of them, while the timers that its caller set run on.
 */
export function sixConnections(modules: WorkerModule[]): WorkerModule[] {
  const entry = `
    import { invocation } from './six-connections.js'
    import worker, { JobChannel as Original } from './${modules[0]?.path}'
    export * from './${modules[0]?.path}'
    export default {
      ...worker,
      fetch: (...args) => invocation(() => worker.fetch(...args)),
      scheduled: (...args) => invocation(() => worker.scheduled(...args)),
    }
    export class JobChannel extends Original {
      alarm(...args) { return invocation(() => super.alarm(...args)) }
    }`
  return [
    { type: 'ESModule', path: 'queued.js', contents: entry },
    // Before everything else, so that a library that keeps `fetch` keeps this one.
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
