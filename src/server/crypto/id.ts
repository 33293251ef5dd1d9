import { LABEL_LENGTH } from '../../domain/door.ts'

/** An opaque id with a readable prefix: `srv_` and 120 random bits. */
export function newId(
  prefix:
    | 'user'
    | 'srv'
    | 'ses'
    | 'job'
    | 'bill'
    | 'fee'
    | 'in'
    | 'chk'
    | 'sub'
    | 'mail'
    | 'msg'
    | 'req'
    | 'launch'
    | 'warm'
    | 'tok'
    | 'dev'
    | 'inc'
    | 'act'
    | 'env'
    | 'whk'
    | 'evt'
    | 'rev'
    | 'tkt'
    | 'gst'
    | 'upl'
    | 'rem'
    | 'ntc'
    | 'grp'
    | 'pky',
): string {
  const bytes = crypto.getRandomValues(new Uint8Array(15))
  return `${prefix}_${Buffer.from(bytes).toString('base64url')}`
}

/** A name for one run's host: 124 random bits in letters and digits. It is no secret. */
export function newDoorLabel(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(LABEL_LENGTH))
  return Array.from(bytes, (byte) => (byte % 36).toString(36)).join('')
}

/** What the keys of someone's files begin with: 160 random bits, which nobody can guess. */
export function newFolderPrefix(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(20))
  return Buffer.from(bytes).toString('hex')
}

/** Equal content gives an equal id, so that writing a record twice, or concurrently, writes one. */
export async function stableBillId(content: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(content))
  return `bill_${Buffer.from(digest, 0, 15).toString('base64url')}`
}
