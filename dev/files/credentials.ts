import { createHash } from 'node:crypto'
import { jwtVerify } from 'jose'

/** The bucket's own; temporary ones have a scope. */
export type Credentials = { accessKeyId: string; secretAccessKey: string; scope: Scope | null }

type Scope = {
  prefixes: string[]
  keys: string[]
  mayWrite: boolean
  /** The only operations; null: all of its kind. */
  actions: string[] | null
  expiresAt: number
}

/** What R2 reads in a session token that the bucket's owner signed; null if they didn't. */
export async function readSession(owner: Credentials, token: string, host: string): Promise<Credentials | null> {
  const jwt = atob(token).replace(/^jwt\//, '')
  try {
    const { payload } = await jwtVerify(jwt, new TextEncoder().encode(owner.secretAccessKey), {
      algorithms: ['HS256'],
      issuer: owner.accessKeyId,
      audience: host,
      // The stack's own clock decides.
      currentDate: new Date(0),
    })
    const { scope, actions, paths, exp } = payload as typeof payload & {
      scope: string
      actions?: string[]
      paths: { prefixPaths: string[]; objectPaths: string[] }
    }
    return {
      accessKeyId: owner.accessKeyId,
      secretAccessKey: createHash('sha256').update(jwt).digest('hex'),
      scope: {
        prefixes: paths.prefixPaths,
        keys: paths.objectPaths,
        mayWrite: scope === 'object-read-write',
        actions: actions ?? null,
        expiresAt: (exp ?? 0) * 1000,
      },
    }
  } catch {
    return null
  }
}

export type Wish = {
  method: string
  /** Null for the bucket itself. */
  key: string | null
  url: URL
  /** What a copy reads. */
  source: string | null
  /** The keys of a request that deletes many. */
  deleted: string[]
}

/** Whether temporary credentials allow a request: reading, listing, and writing where they reach, if they may. */
export function allows({ prefixes, keys, mayWrite, actions }: Scope, wish: Wish): boolean {
  const { method, key, url, source, deleted } = wish
  const reaches = (one: string) => keys.includes(one) || prefixes.some((prefix) => one.startsWith(prefix))
  const isRead = method === 'GET' || method === 'HEAD'
  if (!isRead && !mayWrite) return false
  if (actions && !actions.includes(actionOf(wish))) return false
  if (source !== null && !reaches(source)) return false
  if (key !== null) return reaches(key)
  if (url.searchParams.has('delete')) return deleted.length > 0 && deleted.every(reaches)
  const listed = url.searchParams.get('prefix') ?? ''
  return method === 'GET' && prefixes.some((prefix) => listed.startsWith(prefix))
}

/** S3's names for them, as far as links need them. */
function actionOf({ method, key, url, source }: Wish): string {
  if (key === null) return 'other'
  const isPart = url.searchParams.has('partNumber')
  if (method === 'PUT')
    return `${isPart ? 'UploadPart' : source === null ? 'PutObject' : 'CopyObject'}${isPart && source ? 'Copy' : ''}`
  const isPlain = !url.searchParams.has('uploadId')
  return method === 'GET' && isPlain ? 'GetObject' : method === 'HEAD' ? 'HeadObject' : 'other'
}
