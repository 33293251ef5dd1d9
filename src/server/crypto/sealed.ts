import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { deriveKeys, type KeyPurpose } from './keys.ts'

/** @property of what it belongs to: nothing sealed for one row opens in another */
type Seal = { secretKey: string; purpose: KeyPurpose; of: string }

/** Encrypts a text for the database: `key id.iv.text.tag`. */
export function seal({ secretKey, purpose, of }: Seal, text: string): string {
  const [{ id, key }] = deriveKeys(secretKey, purpose)
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(of))
  const hidden = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return [id, ...[iv, hidden, cipher.getAuthTag()].map((part) => part.toString('base64url'))].join('.')
}

/** @throws if SECRET_KEY no longer holds its key, or someone changed the row */
export function unseal({ secretKey, purpose, of }: Seal, sealed: string): string {
  const [keyId, iv, hidden, tag] = sealed.split('.')
  const found = deriveKeys(secretKey, purpose).find(({ id }) => id === keyId)
  if (!found || !iv || !hidden || !tag) throw new Error(`SECRET_KEY can't open a secret of ${of}`)
  const decipher = createDecipheriv('aes-256-gcm', found.key, Buffer.from(iv, 'base64url'))
  decipher.setAAD(Buffer.from(of)).setAuthTag(Buffer.from(tag, 'base64url'))
  return Buffer.concat([decipher.update(Buffer.from(hidden, 'base64url')), decipher.final()]).toString()
}
