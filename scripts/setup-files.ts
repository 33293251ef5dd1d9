import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { readSecrets, settingsOf, writeSecrets } from './environment.ts'

const CONFIG = 'wrangler.toml'
const EXAMPLE = 'proving-ground.example'

/** Puts the operator's domain in place of the example's, for every environment. @returns what is missing */
export function fillDomain(domain: string | undefined): string | null {
  const text = readFileSync(CONFIG, 'utf8')
  if (!text.includes(EXAMPLE)) return null
  if (domain === undefined) return `wrangler.toml still has the example's domain. Name yours: --domain sims.example.com`
  if (!/^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]+$/.test(domain))
    throw new Error(`--domain must be a domain in lower case, such as sims.example.com.`)
  writeFileSync(CONFIG, text.replaceAll(EXAMPLE, domain))
  return null
}

/** Random values for secrets that nobody else issues. */
export function makeSecrets(env: string): null {
  const secrets = readSecrets(env) ?? {}
  const made = ['SECRET_KEY', 'PASSWORD_PEPPER'].filter((name) => !secrets[name])
  if (made.length)
    writeSecrets(env, {
      ...Object.fromEntries(made.map((name) => [name, randomBytes(32).toString('base64')])),
      ...secrets,
    })
  return null
}

/** If the file still has the example's database, creates one with Turso's command line. */
export function makeDatabase(env: string): string | null {
  const { LIBSQL_URL: url = '', AWS_REGION: region = '' } = settingsOf(env)
  if (!/\.example\.turso\.io/.test(url)) return null
  const name = env === 'production' ? 'proving-ground' : `proving-ground-${env}`
  if (turso('--version') === null)
    return `Install Turso's command line (https://docs.turso.tech/cli), and run "turso auth login". Or set LIBSQL_URL in wrangler.toml and LIBSQL_AUTH_TOKEN in the file of secrets to another libSQL database's.`
  // Its own group, because tokens end for a whole group. Both may exist from an earlier try.
  if (turso('db', 'show', name, '--url') === null) {
    turso('group', 'create', env, '--location', `aws-${region}`)
    if (turso('db', 'create', name, '--group', env) === null)
      return `"turso db create ${name} --group ${env}" failed. Run "turso auth login", and look at "turso group list".`
  }
  const address = turso('db', 'show', name, '--url') ?? ''
  const token = turso('db', 'tokens', 'create', name) ?? ''
  if (!/^libsql:\/\/|^https?:\/\//.test(address) || !token) return `Turso names no address or token of ${name}.`
  writeSecrets(env, { ...readSecrets(env), LIBSQL_AUTH_TOKEN: token })
  writeFileSync(CONFIG, readFileSync(CONFIG, 'utf8').replace(url, address))
  return null
}

/** Null if it fails. */
function turso(...words: string[]): string | null {
  const { status, stdout } = spawnSync('turso', words, { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : null
}
