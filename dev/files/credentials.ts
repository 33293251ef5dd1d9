import { randomBytes } from 'node:crypto'
import type { Store } from '../stand-in/store.ts'

/** Of the bucket itself; a temporary one has a scope. */
export type Credentials = {
  accessKeyId: string
  secretAccessKey: string
  sessionToken: string | null
  scope: { prefix: string; mayWrite: boolean; expiresAt: number } | null
}

/** Like R2's call `temp-access-credentials`. */
export function issueCredentials(store: Store, now: number, body: string): { status: number; body: string } {
  const { permission, prefixes, ttlSeconds } = JSON.parse(body) as {
    permission: string
    prefixes?: string[]
    ttlSeconds: number
  }
  const [prefix] = prefixes ?? []
  if (!/^object-read-(only|write)$/.test(permission) || !prefix || !(ttlSeconds > 0 && ttlSeconds <= 604_800))
    return { status: 400, body: JSON.stringify({ success: false, errors: [{ code: 10001 }], result: null }) }
  const issued: Credentials = {
    accessKeyId: randomBytes(16).toString('hex'),
    secretAccessKey: randomBytes(32).toString('hex'),
    sessionToken: randomBytes(48).toString('base64'),
    scope: { prefix, mayWrite: permission === 'object-read-write', expiresAt: now + ttlSeconds * 1000 },
  }
  store.put('credentials', issued.accessKeyId, issued)
  store.commit()
  const { scope: _, ...result } = issued
  return { status: 200, body: JSON.stringify({ success: true, errors: [], result }) }
}

export type Wish = {
  method: string
  /** Null for the bucket itself. */
  key: string | null
  url: URL
  /** Of a copy. */
  source: string | null
  /** Of one request that deletes many. */
  deleted: string[]
}

/** Whether temporary credentials allow a request: reading and listing below their prefix, and writing there if they may. */
export function allows({ prefix, mayWrite }: { prefix: string; mayWrite: boolean }, wish: Wish): boolean {
  const isRead = wish.method === 'GET' || wish.method === 'HEAD'
  if (!isRead && !mayWrite) return false
  if (wish.source !== null && !wish.source.startsWith(prefix)) return false
  if (wish.key !== null) return wish.key.startsWith(prefix)
  if (wish.url.searchParams.has('delete')) return wish.deleted.every((key) => key.startsWith(prefix))
  return wish.method === 'GET' && (wish.url.searchParams.get('prefix') ?? '').startsWith(prefix)
}
