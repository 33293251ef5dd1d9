import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { type Environment, readDeployment } from '../dev/wrangler-config.ts'

/** What a Worker gets: settings by name. */
export type Settings = Record<string, string | undefined>

/** The file with an environment's secrets, next to wrangler.toml. Git ignores it. */
export const secretsFile = (name: string): string => `secrets.${name}.json`

/** @throws a sentence, if wrangler.toml has no such environment */
export function getEnvironment(name: string): Environment {
  const all = readDeployment().env ?? {}
  const found = all[name]
  if (found) return found
  throw new Error(`wrangler.toml has no environment "${name}". It has ${Object.keys(all).join(' and ') || 'none'}.`)
}

/** The secrets in the environment's file; null without one. @throws a sentence, if others can read or nobody can parse it */
export function readSecrets(name: string): Record<string, string> | null {
  const file = secretsFile(name)
  if (!existsSync(file)) return null
  if (statSync(file).mode & 0o077) throw new Error(`Others on this machine can read ${file}. Run "chmod 600 ${file}".`)
  let secrets: unknown
  try {
    secrets = JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new Error(`${file} isn't JSON. It must be an object with a text for each secret.`, { cause })
  }
  const isRight = secrets !== null && typeof secrets === 'object' && !Array.isArray(secrets)
  const wrong = isRight ? Object.entries(secrets as object).find(([, value]) => typeof value !== 'string')?.[0] : ''
  if (wrong !== undefined)
    throw new Error(`${file} must be an object with a text for each secret${wrong && `: ${wrong} isn't one`}.`)
  return secrets as Record<string, string>
}

/** Replaces the file in one step, so that a full disk loses nothing. Only its owner can read it. */
export function writeSecrets(name: string, secrets: Record<string, string>): void {
  const file = secretsFile(name)
  writeFileSync(`${file}.new`, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

/**
 * What the environment's Worker gets: wrangler.toml's variables and the file of secrets, regardless of this shell's
 * variables. Without the file, as in CI, the shell's variables are the secrets. Without a name, they are everything.
 */
export function settingsOf(name: string | undefined): Settings {
  if (name === undefined) return process.env
  const { vars } = getEnvironment(name)
  const texts = Object.entries(vars).map(([key, value]) => [key, String(value)] as const)
  return { ...(readSecrets(name) ?? process.env), ...Object.fromEntries(texts) }
}

/** The site's address in links; machines use it as well. */
export const firstOrigin = ({ SITE_ORIGINS = '' }: Settings): string => SITE_ORIGINS.split(',')[0]?.trim() ?? ''
