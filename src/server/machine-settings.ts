import type { Env } from './env.ts'

/** How we know our own machines: src/server/fleet/machines/identity.ts. */
export type MachineSettings = {
  accountId: string
  region: string
  /** The public key that Amazon signs identities with in this region, as SubjectPublicKeyInfo. */
  publicKey: Uint8Array<ArrayBuffer>
}

/** Null: no machine can prove what it is, so none gets files. */
export function machineSettingsOf(env: Env): MachineSettings | null {
  const { AWS_ACCOUNT_ID: accountId, AWS_IDENTITY_CERTIFICATE: certificate, AWS_REGION: region } = env
  const publicKey = certificate === undefined ? null : publicKeyOf(certificate)
  return accountId && publicKey ? { accountId, region, publicKey } : null
}

/** The public key inside an X.509 certificate in PEM, or in its base64 alone; null if it isn't one. */
export function publicKeyOf(certificate: string): Uint8Array<ArrayBuffer> | null {
  try {
    const base64 = certificate.replace(/-----(BEGIN|END) CERTIFICATE-----|\s/g, '')
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
    const signed = elementAt(bytes, elementAt(bytes, 0).start)
    let at = signed.start
    // The version has a tag of its own, and may be missing. Then: number, algorithm, issuer, validity, subject.
    if (bytes[at] === 0xa0) at = elementAt(bytes, at).end
    for (let skipped = 0; skipped < 5; skipped++) at = elementAt(bytes, at).end
    const key = elementAt(bytes, at)
    return bytes[at] === 0x30 && key.end <= signed.end ? bytes.slice(at, key.end) : null
  } catch {
    return null
  }
}

/** Where the content of the DER element at this place begins and ends. @throws if there is none */
function elementAt(bytes: Uint8Array, at: number): { start: number; end: number } {
  const first = bytes[at + 1] ?? 0xff
  const lengthBytes = first < 0x80 ? 0 : first - 0x80
  const start = at + 2 + lengthBytes
  const length = lengthBytes ? bytes.subarray(at + 2, start).reduce((sum, byte) => sum * 256 + byte, 0) : first
  if (lengthBytes > 4 || start + length > bytes.length) throw new Error('The DER element is cut off')
  return { start, end: start + length }
}
