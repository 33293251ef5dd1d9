import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { isApiToken } from '../../src/domain/api-token.ts'
import { getUser } from './api.ts'
import { EXIT, Failure } from './failure.ts'
import { askHidden, note, readInput, say } from './terminal.ts'

export type Site = { url: string; token: string }
export type SiteOptions = { baseUrl?: string }

const LOGIN = 'proving-ground login --token'

/** @throws not signed in */
export function currentSite(options: SiteOptions): Site {
  const url = chosenUrl(options)
  const token = process.env.PROVING_GROUND_TOKEN
  if (token) return { url, token: checkToken(token.trim(), 'PROVING_GROUND_TOKEN') }
  const saved = findSaved()
  // A token never goes to a site other than its own.
  if (saved?.url !== url) throw new Failure(EXIT.notSignedIn, `You aren't signed in to ${url}. Run: ${LOGIN}`)
  return saved
}

export async function login(options: SiteOptions & { token?: true }): Promise<void> {
  const url = chosenUrl(options)
  if (!options.token)
    throw new Failure(EXIT.usage, `Create an API token at ${url}/api_tokens, then paste it into: ${LOGIN}`)
  const question = `Paste an API token (create one at ${url}/api_tokens): `
  const text = process.stdin.isTTY ? await askHidden(question) : await readInput()
  if (text === null) throw new Failure(EXIT.interrupted, 'You are not signed in.')
  const token = checkToken(text.trim(), 'This')
  const user = await getUser({ url, token })
  save({ url, token })
  say(`You're signed in to ${url} as ${user.email}.`)
  if (process.env.PROVING_GROUND_TOKEN) note('PROVING_GROUND_TOKEN is set. Commands use that token instead.')
}

export function logout(): void {
  const saved = findSaved()
  rmSync(signInFile(), { force: true })
  say(
    saved
      ? `You're signed out of ${saved.url}. The token still works elsewhere. Revoke it at ${saved.url}/api_tokens`
      : "You weren't signed in.",
  )
}

function checkToken(text: string, name: string): string {
  if (isApiToken(text)) return text
  throw new Failure(EXIT.notSignedIn, `${name} isn't an API token. Copy all of it: pg_ and 36 letters and digits.`)
}

function chosenUrl({ baseUrl }: SiteOptions): string {
  const text = baseUrl ?? (process.env.PROVING_GROUND_URL || findSaved()?.url)
  if (!text) throw new Failure(EXIT.usage, 'Name the site: pass --base-url https://… or set PROVING_GROUND_URL.')
  const url = URL.canParse(text) ? new URL(text) : null
  if (url?.pathname !== '/' || url.search || url.hash || url.username)
    throw new Failure(EXIT.usage, `${text} isn't the address of a site. Write it like https://your-site.example`)
  const isHere = url.hostname === 'localhost' || url.hostname === '[::1]' || /^127\.[\d.]+$/.test(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isHere))
    throw new Failure(EXIT.usage, `${text} would send your token unencrypted. Use https://.`)
  return url.origin
}

function signInFile(): string {
  const { APPDATA, XDG_CONFIG_HOME } = process.env
  const home = homedir()
  const folder = {
    win32: APPDATA ?? join(home, 'AppData', 'Roaming'),
    darwin: join(home, 'Library', 'Application Support'),
  }[process.platform as string]
  const xdg = XDG_CONFIG_HOME && isAbsolute(XDG_CONFIG_HOME) ? XDG_CONFIG_HOME : join(home, '.config')
  return join(folder ?? xdg, 'proving-ground', 'sign-in.json')
}

function findSaved(): Site | null {
  try {
    const { url, token } = JSON.parse(readFileSync(signInFile(), 'utf8')) as Partial<Site>
    return url && token ? { url, token } : null
  } catch {
    return null
  }
}

/** Written beside the file and renamed, so the token is never readable by others, nor half there. */
function save(site: Site): void {
  const file = signInFile()
  const draft = `${file}.${process.pid}`
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  try {
    writeFileSync(draft, `${JSON.stringify(site, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
    renameSync(draft, file)
  } catch (error) {
    rmSync(draft, { force: true })
    throw new Failure(EXIT.refused, `Can't write ${file}: ${(error as Error).message}`)
  }
}
