import { isSignature, signatureOf } from './keys.ts'

/** What a mailed link does to its run. Its key opens nothing else, and we keep it nowhere. */
type Act = 'extend' | 'stop'

export function runLinkPath(secretKey: string, act: Act, runId: string): string {
  return `/servers/${runId}/${act}?key=${signatureOf(secretKey, act, runId).toString('base64url')}`
}

export function isRunLinkKey(secretKey: string, act: Act, runId: string, given: string): boolean {
  return isSignature(Buffer.from(given, 'base64url'), secretKey, act, runId)
}
