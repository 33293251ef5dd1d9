import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Keys for this local stack only, created once and stored with its data so sign-ins survive a restart. */
export function localSecrets(dataDir: string): {
  SECRET_KEY: string
  PASSWORD_PEPPER: string
  STRIPE_WEBHOOK_SECRET: string
} {
  const path = join(dataDir, 'secrets.json')
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8'))
  const secrets = {
    SECRET_KEY: randomBytes(32).toString('base64url'),
    PASSWORD_PEPPER: randomBytes(32).toString('base64url'),
    STRIPE_WEBHOOK_SECRET: `whsec_${randomBytes(24).toString('hex')}`,
  }
  mkdirSync(dataDir, { recursive: true })
  // A kill must not leave half of them.
  writeFileSync(`${path}.new`, JSON.stringify(secrets), { mode: 0o600 })
  renameSync(`${path}.new`, path)
  return secrets
}
