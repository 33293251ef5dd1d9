import { randomBytes } from 'node:crypto'
import type { WebhookSecret } from '../../../db/schema/events.ts'
import { seal, unseal } from '../crypto/sealed.ts'

/** Standard Webhooks asks for 24 to 64 bytes. */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/** For the database, for this endpoint only. Unlike a password, we need it again to sign. */
export function sealSecret(secretKey: string, webhookId: string, secret: string): string {
  return seal({ secretKey, purpose: 'webhook', of: webhookId }, secret)
}

/** @throws if SECRET_KEY no longer holds its key, or someone changed the row */
export function openSecret(secretKey: string, webhookId: string, sealed: string): string {
  return unseal({ secretKey, purpose: 'webhook', of: webhookId }, sealed)
}

/** The secrets that sign now, newest first. */
export function liveSecrets(secrets: WebhookSecret[], now: number): WebhookSecret[] {
  return secrets.filter(({ endsAt }) => endsAt === null || endsAt > now)
}
