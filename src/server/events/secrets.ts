import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { WebhookSecret } from '../../../db/schema.ts'
import { type DerivedKey, deriveKeys } from '../keys.ts'

/** Standard Webhooks asks for 24 to 64 bytes. */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/**
 * Encrypts a secret for the database, for this endpoint only: `key id.iv.text.tag`. Unlike a password, we need
 * it again to sign.
 */
export function sealSecret(secretKey: string, webhookId: string, secret: string): string {
  const [{ id, key }] = deriveKeys(secretKey, 'webhook')
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(webhookId))
  const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
  return [id, ...[iv, text, cipher.getAuthTag()].map((part) => part.toString('base64url'))].join('.')
}

/** @throws if SECRET_KEY no longer holds its key, or someone changed the row */
export function openSecret(secretKey: string, webhookId: string, sealed: string): string {
  const [keyId, iv, text, tag] = sealed.split('.')
  const found = deriveKeys(secretKey, 'webhook').find(({ id }: DerivedKey) => id === keyId)
  if (!found || !iv || !text || !tag) throw new Error(`SECRET_KEY can't open a secret of ${webhookId}`)
  const decipher = createDecipheriv('aes-256-gcm', found.key, Buffer.from(iv, 'base64url'))
  decipher.setAAD(Buffer.from(webhookId)).setAuthTag(Buffer.from(tag, 'base64url'))
  return Buffer.concat([decipher.update(Buffer.from(text, 'base64url')), decipher.final()]).toString()
}

/** The secrets that sign now, newest first. */
export function liveSecrets(secrets: WebhookSecret[], now: number): WebhookSecret[] {
  return secrets.filter(({ endsAt }) => endsAt === null || endsAt > now)
}
