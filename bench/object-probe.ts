import { createServer } from 'node:http'
import type { WorkerModule } from '../dev/build.ts'

type Wake = { userId: string; what: 'constructed' | 'fetch' | 'message' | 'alarm' | 'call' }

export type ObjectProbe = {
  /**
   * Wraps the built Worker in an entry that reports each time a JobChannel object is constructed or woken. A job posted to /bench/push/:userId goes
   * to that user's sockets, as after a job's step.
   */
  around(modules: WorkerModule[]): WorkerModule[]
  wakes: Wake[]
  close(): Promise<void>
}

/**
 * Shows hibernation from outside, through a subclass of the object, so the product needs no code for it. An evicted object is constructed again
 * when needed. While it sleeps, nothing is reported.
 */
export async function startObjectProbe(): Promise<ObjectProbe> {
  const wakes: Wake[] = []
  const server = createServer((req, res) => {
    const [, userId = '', what] = (req.url ?? '').split('/')
    wakes.push({ userId, what: what as Wake['what'] })
    res.end()
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const { port } = server.address() as { port: number }
  const entry = `
    import worker, { JobChannel as Original } from './index.js'
    export * from './index.js'
    export default { ...worker, async fetch(request, env, ctx) {
      const [, userId] = request.url.match(/\\/bench\\/push\\/(.+)/) ?? []
      if (!userId) return worker.fetch(request, env, ctx)
      await env.JOB_CHANNEL.getByName(userId).pushBenched(await request.json())
      return new Response(null, { status: 204 })
    } }
    export class JobChannel extends Original {
      constructor(ctx, env) { super(ctx, env); this.report('constructed') }
      report(what) { fetch('http://127.0.0.1:${port}/' + this.ctx.id.name + '/' + what).then((r) => r.text()).catch(() => {}) }
      fetch(request) { this.report('fetch'); return super.fetch(request) }
      alarm(info) { this.report('alarm'); return super.alarm(info) }
      webSocketMessage(socket, message) { this.report('message'); return super.webSocketMessage(socket, message) }
      arm(id) { this.report('call'); return super.arm(id) }
      wake(id) { this.report('call'); return super.wake(id) }
      pushBenched(job) { this.sockets.push(job) }
    }`
  return {
    around: (modules) => [{ type: 'ESModule', path: 'probed.js', contents: entry }, ...modules],
    wakes,
    async close() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}
