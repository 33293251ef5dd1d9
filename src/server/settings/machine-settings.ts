import { X509Certificate } from 'node:crypto'
import type { Env } from './env.ts'

/** How we know our own machines: src/server/fleet/machines/identity.ts. */
export type MachineSettings = {
  accountId: string
  region: string
  /** The public key that Amazon signs identities with in this region, as SubjectPublicKeyInfo. */
  publicKey: Uint8Array<ArrayBuffer>
}

/** @param env whose settings hold */
export function machineSettingsOf(env: Env): MachineSettings {
  const { AWS_ACCOUNT_ID: accountId, AWS_IDENTITY_CERTIFICATE: certificate, AWS_REGION: region } = env
  return { accountId, region, publicKey: publicKeyOf(certificate) as MachineSettings['publicKey'] }
}

/** The public key inside an X.509 certificate in PEM, or in its base64 alone; null if it isn't one. */
export function publicKeyOf(certificate: string): Uint8Array<ArrayBuffer> | null {
  try {
    const bytes = Buffer.from(certificate.replace(/-----(BEGIN|END) CERTIFICATE-----/g, ''), 'base64')
    return new Uint8Array(new X509Certificate(bytes).publicKey.export({ type: 'spki', format: 'der' }))
  } catch {
    return null
  }
}
