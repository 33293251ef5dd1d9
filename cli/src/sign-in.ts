import { hostname } from 'node:os'
import { text as readText } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TokenScope } from '../../src/domain/api-token.ts'
import { CLIENT_ID, DEVICE_GRANT, POLL_EVERY_MS } from '../../src/domain/device-code.ts'
import { call, getUser, postForm, revokeToken } from './api.ts'
import { openInBrowser } from './browser.ts'
import { EXIT, Failure } from './failure.ts'
import { checkToken, chosenUrl, currentSite, findSaved, forget, ownUrl, type SiteOptions, save } from './site.ts'
import { askHidden, isTerminal, note, paint, say, sayJson, timeText } from './terminal.ts'

type LoginOptions = SiteOptions & { withToken?: true; scope: TokenScope; browser: boolean }

export async function login({ withToken, scope, browser, ...options }: LoginOptions): Promise<void> {
  const before = findSaved()
  const url = chosenUrl(options, [ownUrl, before?.url])
  const token = withToken ? await readToken(url) : await askToBeLetIn(url, scope, browser)
  const user = await getUser({ url, token })
  save({ url, token, ownToken: !withToken })
  say(`You're signed in to ${url} as ${user.email}.`)
  if (process.env.PROVING_GROUND_TOKEN) note('PROVING_GROUND_TOKEN is set. Commands use that token instead.')
  // Nothing uses the previous token anymore. It may have ended, or its site may be unreachable.
  if (before?.ownToken && before.token !== token) await revokeToken(before).catch(() => {})
}

async function readToken(url: string): Promise<string> {
  const question = `Paste an API token (create one at ${url}/settings/developers): `
  const text = process.stdin.isTTY ? await askHidden(question) : await readText(process.stdin)
  if (text === null) throw new Failure(EXIT.interrupted, 'You are not signed in.')
  return checkToken(text.trim(), 'This')
}

type Codes = {
  device_code: string
  user_code: string
  verification_uri: string
  verification_uri_complete: string
  expires_in: number
  interval: number
}
type Grant = { access_token: string } | { error: string; error_description?: string }

/** RFC 8628: shows a code, and waits until someone approves it in a browser. */
async function askToBeLetIn(url: string, scope: TokenScope, browser: boolean): Promise<string> {
  const about = { client_id: CLIENT_ID, scope, device_name: hostname().slice(0, 40) }
  const codes = await postForm<Codes>({ url }, '/oauth/device_authorization', about)
  note(`Your code is ${paint(codes.user_code, 'green', process.stderr)}`)
  note(`Open ${codes.verification_uri} in a browser, and approve this command line.`)
  if (browser && isTerminal(process.stderr)) openInBrowser(codes.verification_uri_complete)
  const deadline = Date.now() + codes.expires_in * 1000
  for (let waitMs = codes.interval * 1000; Date.now() < deadline; ) {
    await sleep(waitMs)
    const asked = { client_id: CLIENT_ID, grant_type: DEVICE_GRANT, device_code: codes.device_code }
    // No answer, or the site is busy: poll again, but less often.
    const grant = await postForm<Grant>({ url }, '/oauth/token', asked).catch((): Grant => ({ error: 'slow_down' }))
    if ('access_token' in grant) return checkToken(grant.access_token, 'The answer')
    if (grant.error === 'slow_down') waitMs += POLL_EVERY_MS
    else if (grant.error === 'access_denied') throw new Failure(EXIT.notSignedIn, "You declined. You're not signed in.")
    else if (grant.error !== 'authorization_pending') break
  }
  throw new Failure(EXIT.timeout, 'The code has expired. Run proving-ground login again.')
}

export async function logout(): Promise<void> {
  const saved = findSaved()
  if (!saved) return say("You weren't signed in.")
  forget()
  const { url, ownToken } = saved
  const revoked = ownToken && (await revokeToken(saved).then(() => true, wasOver))
  say(
    revoked
      ? `You're signed out of ${url}.`
      : `You're signed out of ${url}. The token still works elsewhere. Revoke it at ${url}/settings/developers`,
  )
}

/** Whether the token had already ended. */
function wasOver(error: unknown): boolean {
  return error instanceof Failure && error.exitCode === EXIT.notSignedIn
}

type TokenOptions = SiteOptions & { revoke?: true; json?: true }

/** Shows or revokes the token in use. A token can't see any other. */
export async function token(options: TokenOptions): Promise<void> {
  const site = currentSite(options)
  if (options.revoke) {
    const answer = await revokeToken(site)
    if (findSaved()?.token === site.token) forget()
    return options.json ? sayJson(answer) : say(answer.message)
  }
  const [user, { api_token }] = await Promise.all([
    getUser(site),
    call(site, (client) => client.GET('/api/v1/api_token')),
  ])
  if (options.json) return sayJson({ user, api_token })
  const { name, scope, expires_at } = api_token
  const lines = [
    ['Site', site.url],
    ['Account', user.email],
    ['Token', name],
    ['May', scope === 'read' ? 'read' : 'read, start, and stop'],
    ['Expires', timeText(expires_at)],
    ['All tokens', `${site.url}/settings/developers`],
  ]
  say(lines.map(([label = '', value]) => `${label.padEnd(12)}${value}`).join('\n'))
}
