import { deriveKey, HashQueue } from '../src/server/accounts/credentials/scrypt.ts'
import type { Derivation, HasherCalls } from '../src/server/ports/objects.ts'
import type { WorkerModule } from './build.ts'

export type Hashers = { getByName(name: string): HasherCalls }

/**
 * The queues of the objects that hash passwords, in this process, where Node hashes on other threads. It hashes one at
 * a time, so that file and address lookups, which use the same few threads, needn't wait.
 */
export function openHashers(derive = deriveKey): Hashers {
  const queues = new Map<string, HashQueue>()
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = (work: Derivation) => {
    const key = last.then(() => derive(work))
    last = key.catch(() => {})
    return key
  }
  return {
    getByName(name) {
      const queue = queues.get(name) ?? new HashQueue(inTurn)
      queues.set(name, queue)
      return queue
    },
  }
}

/**
 * Wraps the Worker in an entry whose PasswordHasher objects pass their work to this process, through the service binding
 * HASHERS. A workerd has one thread for all its Workers and objects, so a hash there would hold up every page.
 */
export function hashingInNode(modules: WorkerModule[]): WorkerModule[] {
  const entry = `
    import worker, { PasswordHasher as Original } from './${modules[0]?.path}'
    export * from './${modules[0]?.path}'
    export default worker
    export class PasswordHasher extends Original {
      async derive({ secret, salt, cost }) {
        const work = [secret, salt].map((bytes) => Buffer.from(bytes).toString('base64'))
        const body = JSON.stringify([this.ctx.id.name, ...work, cost])
        const answer = await this.env.HASHERS.fetch('http://hashers/', { method: 'POST', body })
        if (!answer.ok) throw new Error(await answer.text())
        return answer.status === 204 ? null : new Uint8Array(await answer.arrayBuffer())
      }
    }`
  return [{ type: 'ESModule', path: 'hashing.js', contents: entry }, ...modules]
}

/** The other end of HASHERS. */
export async function hash(hashers: Hashers, request: { json(): Promise<unknown> }): Promise<Response> {
  const [name, secret, salt, cost] = (await request.json()) as [string, string, string, Derivation['cost']]
  const work = { secret: Buffer.from(secret, 'base64'), salt: Buffer.from(salt, 'base64'), cost }
  const key = await hashers.getByName(name).derive(work)
  return key ? new Response(key as Uint8Array<ArrayBuffer>) : new Response(null, { status: 204 })
}
