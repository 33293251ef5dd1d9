import { request } from './request.ts'

/**
 * The browser's part of passkeys (WebAuthn): finishes the buttons and the form marked with `data-passkey`, which the server
 * rendered disabled.
 */
export function mountPasskeys(): void {
  const canUse = 'PublicKeyCredential' in window && Boolean(navigator.credentials)
  for (const part of document.querySelectorAll<HTMLElement>('[data-passkey]')) {
    if (!canUse) {
      say(part, "This browser can't use passkeys.")
      continue
    }
    const does = part.dataset.passkey
    const button = part.querySelector<HTMLButtonElement>(does === 'add' ? '[type=submit]' : 'button')
    if (button) button.disabled = false
    if (does === 'add') part.addEventListener('submit', (event) => add(part as HTMLFormElement, event))
    else button?.addEventListener('click', () => once(() => (does === 'sign_in' ? signIn(part) : prove(part, does))))
    if (does === 'sign_in') void offer(part)
  }
}

let underWay = false

/** A second click asks for nothing more. */
async function once(work: () => Promise<void>): Promise<void> {
  if (underWay) return
  underWay = true
  await work().catch(reportError)
  underWay = false
}

type Descriptor = { id: string; type: 'public-key'; transports?: AuthenticatorTransport[] }
type RequestOptions = { challenge: string; allowCredentials: Descriptor[] } & Record<string, unknown>
type CreationOptions = { challenge: string; user: { id: string }; excludeCredentials: Descriptor[] } & Record<
  string,
  unknown
>

/** Current browsers can convert these themselves, but older ones can't, nor can password managers that answer for them. */
const bytes = (text: string) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0))
const base64 = (data: ArrayBuffer | null) =>
  data &&
  btoa(Array.from(new Uint8Array(data), (byte) => String.fromCharCode(byte)).join(''))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
const read = (list: Descriptor[]) => list.map((one) => ({ ...one, id: bytes(one.id) }))

function toJson(credential: PublicKeyCredential, response: Record<string, unknown>) {
  const { id, rawId, type } = credential
  const clientDataJSON = base64(credential.response.clientDataJSON)
  return { id, rawId: base64(rawId), type, response: { clientDataJSON, ...response }, clientExtensionResults: {} }
}

async function create(options: CreationOptions) {
  const { user, challenge, excludeCredentials, ...rest } = options
  const publicKey = {
    ...rest,
    challenge: bytes(challenge),
    user: { ...user, id: bytes(user.id) },
    excludeCredentials: read(excludeCredentials),
  } as unknown as PublicKeyCredentialCreationOptions
  const made = (await navigator.credentials.create({ publicKey })) as PublicKeyCredential
  const response = made.response as AuthenticatorAttestationResponse
  const transports = response.getTransports?.() ?? []
  return toJson(made, { attestationObject: base64(response.attestationObject), transports })
}

async function get({ challenge, allowCredentials, ...rest }: RequestOptions, how: CredentialRequestOptions = {}) {
  const publicKey = { ...rest, challenge: bytes(challenge), allowCredentials: read(allowCredentials) }
  const used = (await navigator.credentials.get({ ...how, publicKey })) as PublicKeyCredential
  const { authenticatorData, signature, userHandle } = used.response as AuthenticatorAssertionResponse
  return toJson(used, {
    authenticatorData: base64(authenticatorData),
    signature: base64(signature),
    userHandle: base64(userHandle),
  })
}

/** Why the browser gave none. It doesn't say more, so that pages can't learn who has one. */
function reasonOf(error: unknown): string {
  const { name } = error as Error
  if (name === 'InvalidStateError') return 'This device already has a passkey for your account.'
  if (name === 'SecurityError') return "Passkeys don't work at this address."
  return 'No passkey was used. You can try again.'
}

function say(part: HTMLElement, sentence: string): void {
  const words = part.querySelector(':scope > [role=status]')
  if (words) words.textContent = sentence
}

/** The page's one request for a passkey that the browser offers beside the email. A newer one replaces it. */
let offered: AbortController | undefined

type Asked = { challenge: string; options: RequestOptions }

async function signIn(part: HTMLElement): Promise<void> {
  offered?.abort()
  const asked = await request<Asked>('POST', '/users/sign_in/passkey/options')
  if (!asked.ok) return say(part, asked.body.error ?? '')
  try {
    await finish(part, asked.body, await get(asked.body.options))
  } catch (error) {
    say(part, reasonOf(error))
    void offer(part)
  }
}

async function finish(part: HTMLElement, { challenge }: Asked, response: object): Promise<void> {
  const { ok, body } = await request<{ page?: string }>('POST', '/users/sign_in/passkey', { challenge, response })
  if (ok) return location.assign(body.page ?? '/dashboard')
  say(part, body.error ?? '')
  void offer(part)
}

/** Shorter than a challenge lasts. */
const ASK_AGAIN_MS = 9 * 60_000

/** Has the browser offer passkeys where the email is typed, for as long as the page is open. */
async function offer(part: HTMLElement): Promise<void> {
  // Before awaiting anything, so that a click in the meantime ends it.
  const waiting = new AbortController()
  offered = waiting
  if (!(await PublicKeyCredential.isConditionalMediationAvailable?.()) || waiting.signal.aborted) return
  const asked = await request<Asked>('POST', '/users/sign_in/passkey/options')
  if (!asked.ok || waiting.signal.aborted) return
  const again = setTimeout(() => {
    waiting.abort()
    void offer(part)
  }, ASK_AGAIN_MS)
  try {
    const answer = await get(asked.body.options, { mediation: 'conditional', signal: waiting.signal })
    await finish(part, asked.body, answer)
  } catch {
    // They chose another way.
  } finally {
    clearTimeout(again)
  }
}

/** Puts the passkey's answer into the form. */
async function prove(part: HTMLElement, does = 'fill'): Promise<void> {
  const form = part.closest('form')
  const input = part.querySelector('input')
  if (!form || !input) return
  const given = part.dataset.options
  const asked = given
    ? null
    : await request<Asked>('POST', '/account_security/passkeys/confirm', { verified: does === 'send' })
  if (asked && !asked.ok) return say(part, asked.body.error ?? '')
  try {
    input.value = JSON.stringify(await get(asked ? asked.body.options : JSON.parse(given ?? '')))
  } catch (error) {
    return say(part, reasonOf(error))
  }
  if (does === 'send') return form.requestSubmit()
  say(part, 'Passkey used. Now finish the form.')
  for (const code of form.querySelectorAll<HTMLInputElement>('input[autocomplete=one-time-code]')) code.value = ''
  form.querySelector<HTMLElement>('input:invalid:not([hidden]), [type=submit]')?.focus()
}

/** Has the browser make a passkey, then sends the form with it. */
function add(form: HTMLFormElement, event: SubmitEvent): void {
  const response = form.elements.namedItem('response') as HTMLInputElement
  if (response.value) return
  event.preventDefault()
  void once(() => make(form, response))
}

async function make(form: HTMLFormElement, response: HTMLInputElement): Promise<void> {
  const { name, current_password, totp, passkey, link } = Object.fromEntries(new FormData(form)) as Record<
    string,
    string
  >
  if (!name?.trim()) return say(form, 'Please enter a name for the passkey.')
  const proof = { current_password, totp, link, passkey: passkey ? JSON.parse(passkey) : null }
  const asked = await request<{ options: CreationOptions }>('POST', '/account_security/passkeys/options', proof)
  if (!asked.ok) return say(form, asked.body.error ?? '')
  try {
    response.value = JSON.stringify(await create(asked.body.options))
  } catch (error) {
    return say(form, reasonOf(error))
  }
  // Only the fields that the call takes. The password has done its part.
  for (const input of form.querySelectorAll<HTMLInputElement>('[name=current_password], [name=totp], [name=passkey]'))
    input.disabled = true
  form.requestSubmit()
}
