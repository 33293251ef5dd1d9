import { createHmac, timingSafeEqual } from 'node:crypto'
import { deriveKeys } from './keys.ts'

/** The link in the email before a run's end. Its key opens nothing else, and we keep it nowhere. */
export function extendPath(secretKey: string, runId: string): string {
  return `/servers/${runId}/extend?key=${mac(deriveKeys(secretKey, 'extend')[0].key, runId).toString('base64url')}`
}

export function isExtendKey(secretKey: string, runId: string, given: string): boolean {
  const bytes = Buffer.from(given, 'base64url')
  return deriveKeys(secretKey, 'extend').some(({ key }) => {
    const expected = mac(key, runId)
    return bytes.length === expected.length && timingSafeEqual(bytes, expected)
  })
}

function mac(key: Uint8Array, runId: string): Buffer {
  return createHmac('sha256', key).update(runId).digest()
}
