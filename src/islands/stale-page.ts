import { personOfToken } from '../domain/page-token.ts'
import { COOKIES_BLOCKED, RELOADING_FOR_OTHER, reloadedFor } from '../domain/user.ts'
import { isChecking, NOBODY, nextUserState, readBootstrapUser, type UserState } from '../domain/user-state.ts'
import { announce } from './announce.ts'

/**
 * What we do about a page that may be out of date: it comes from the back/forward cache, someone else has signed in, or
 * our cookies are gone.
 */

/** We give up on a server that stays silent this long. */
const TIMEOUT_MS = 20_000

const askWhoItIs = () => fetch('/api/v1/users/get_session', { signal: AbortSignal.timeout(TIMEOUT_MS) })

/** The page is covered until the server says who is signed in. A 401: nobody is. No answer changes nothing. */
export async function checkSession(cover: (covered: boolean) => void): Promise<void> {
  let state: UserState = nextUserState(NOBODY, { type: 'check' })
  cover(isChecking(state))
  const answer = await askWhoItIs().catch(() => null)
  const { Body: user } = answer?.ok ? await answer.json() : { Body: null }
  if (user?.id || answer?.status === 401) state = nextUserState(state, { type: 'checked', user })
  else state = nextUserState(state, { type: 'failed', error: 'Network error' })
  if (state.status === 'succeeded' && state.user?.id !== bootstrapUserId()) return location.reload()
  cover(isChecking(state))
}

function bootstrapUserId(): string | undefined {
  try {
    return readBootstrapUser(document.getElementById('bootstrap')?.textContent)?.id
  } catch {
    return 'unreadable'
  }
}

/** The next page says why it was reloaded. */
const NOTE = 'reloaded-for-other'

/** Says that someone else is signed in now, and reloads the page for them. */
export function leaveToOther(): Promise<never> {
  // What was typed belongs to someone who isn't signed in anymore.
  addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), { capture: true })
  try {
    sessionStorage.setItem(NOTE, '1')
  } catch {
    // Without storage, the page still shows who it belongs to.
  }
  announce(RELOADING_FOR_OTHER)
  location.reload()
  return new Promise(() => {})
}

/** On the page after. */
export function sayWhyReloaded(): void {
  sessionStorage.removeItem(NOTE)
  const user = readBootstrapUser(document.getElementById('bootstrap')?.textContent)
  const note = document.createElement('div')
  note.className = 'page page-flash'
  note.innerHTML = '<div class="alert alert-info" tabindex="-1"></div>'
  const words = note.querySelector('div') as HTMLElement
  words.textContent = reloadedFor(user)
  document.getElementById('main')?.prepend(note)
  words.focus()
}

/**
 * After a refusal because the session has ended: sends the form of the button they just pressed as a plain one. Its
 * answer is the sign-in page, which leads back here with what they typed. @returns whether it did
 */
export function signInAgain(click: MouseEvent | undefined): boolean {
  const button = (click?.target as Element | undefined)?.closest('button')
  const form = button?.form
  const isRecent = performance.now() - (click?.timeStamp ?? 0) < TIMEOUT_MS
  if (!isRecent || button?.type !== 'submit' || form?.getAttribute('method') !== 'post') return false
  // It comes back with the page, so it isn't lost.
  addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), { capture: true })
  const action = button.getAttribute('formaction')
  if (action) form.setAttribute('action', action)
  if (button.name)
    form.append(
      Object.assign(document.createElement('input'), { type: 'hidden', name: button.name, value: button.value }),
    )
  HTMLFormElement.prototype.submit.call(form)
  return true
}

type Refused = { body: { error?: string; message?: string; errors?: string[] } }

/**
 * After a refusal because of the page's token: gets a fresh one and repeats the call, unless someone else is signed in
 * now.
 * @param again repeats it; null after the second refusal: then the browser keeps no cookies
 */
export async function recover<T extends Refused>(
  refused: T,
  meta: HTMLMetaElement | null,
  again: (() => Promise<T>) | null,
): Promise<T> {
  if (!again) {
    const words = { error: COOKIES_BLOCKED, message: COOKIES_BLOCKED, errors: [COOKIES_BLOCKED] }
    return { ...refused, body: { ...refused.body, ...words } }
  }
  const token = (await askWhoItIs()).headers.get('X-CSRF-Token')
  if (!token || !meta) return refused
  const [shown, now] = [personOfToken(meta.content), personOfToken(token)]
  if (shown && now && shown !== now) return leaveToOther()
  // They have since signed out: the refusal says so.
  if (shown !== now && shown) return refused
  meta.content = token
  return again()
}
