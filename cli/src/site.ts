import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { isApiToken } from '../../src/domain/api-token.ts'
import { OWN_SITE } from '../../src/domain/own-site.ts'
import { EXIT, Failure, wrongUsage } from './failure.ts'

export type Site = { url: string; token: string }
/** `ownToken`: `login` created it, so `logout` revokes it. */
type Saved = Site & { ownToken: boolean }
export type SiteOptions = { baseUrl?: string }

export const LOGIN = 'proving-ground login'

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

export function checkToken(text: string, name: string): string {
  if (isApiToken(text)) return text
  throw new Failure(
    EXIT.notSignedIn,
    `${name} isn't an API token. Copy the whole token: pg_ and 36 letters and digits.`,
  )
}

/** The site this file was downloaded from. */
export const ownUrl = /^https?:\S+/.exec(OWN_SITE)?.[0]

export function chosenUrl({ baseUrl }: SiteOptions, known = [findSaved()?.url, ownUrl]): string {
  const text = baseUrl ?? (process.env.PROVING_GROUND_URL || known.find(Boolean))
  if (!text) throw wrongUsage('Name the site: pass --base-url https://… or set PROVING_GROUND_URL.')
  const url = URL.canParse(text) ? new URL(text) : null
  if (url?.pathname !== '/' || url.search || url.hash || url.username)
    throw wrongUsage(`${text} isn't the address of a site. Write it like https://your-site.example`)
  const isHere = url.hostname === 'localhost' || url.hostname === '[::1]' || /^127\.[\d.]+$/.test(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isHere))
    throw wrongUsage(`${text} would send your token unencrypted. Use https://.`)
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

export function findSaved(): Saved | null {
  try {
    const { url, token, ownToken = false } = JSON.parse(readFileSync(signInFile(), 'utf8')) as Partial<Saved>
    return url && token ? { url, token, ownToken } : null
  } catch {
    return null
  }
}

export function forget(): void {
  rmSync(signInFile(), { force: true })
}

/** Written beside the file and then renamed, so that others can't read the token and it's never half-written. */
export function save(site: Saved): void {
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
