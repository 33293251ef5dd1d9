import { isSignature, signatureOf } from './keys.ts'

/** The link in the email before a run's end. Its key opens nothing else, and we keep it nowhere. */
export function extendPath(secretKey: string, runId: string): string {
  return `/servers/${runId}/extend?key=${signatureOf(secretKey, 'extend', runId).toString('base64url')}`
}

export function isExtendKey(secretKey: string, runId: string, given: string): boolean {
  return isSignature(Buffer.from(given, 'base64url'), secretKey, 'extend', runId)
}
