import { DurableObject } from 'cloudflare:workers'
import type { Derivation, HasherCalls } from '../../ports/objects.ts'
import type { Env } from '../../settings/env.ts'
import { HashQueue } from './scrypt.ts'

/** Hashes off the threads that answer pages, and stores nothing: docs/decisions/007-hashing-in-objects.md. */
export class PasswordHasher extends DurableObject<Env> implements HasherCalls {
  private readonly queue = new HashQueue()

  async derive(work: Derivation): Promise<Uint8Array | null> {
    return this.queue.derive(work)
  }
}
