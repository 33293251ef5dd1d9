import { personOfToken } from '../domain/page-token.ts'
import { COOKIES_BLOCKED, RELOADING_FOR_OTHER, reloadedFor } from '../domain/user.ts'
import { isChecking, NOBODY, nextUserState, readBootstrapUser, type UserState } from '../domain/user-state.ts'
import type { User } from '../domain/wire.ts'
import { announce } from './announce.ts'
import { type Answer, leave, request, tokenMeta, untilLeft } from './request.ts'
import { cover } from './session-check.ts'

/**
 * A page that may be out of date: it comes from the back/forward cache, someone else has signed in, or our cookies are
 * gone.
 */

/** The page is covered until the server says who is signed in. */
export async function checkSession(): Promise<void> {
  let state: UserState = nextUserState(NOBODY, { type: 'check' })
  cover(isChecking(state))
  const reply = await request<User>('GET', '/api/v1/users/get_session')
  // A 401 means nobody is signed in. No response changes nothing.
  if (reply.ok && reply.body.id) state = nextUserState(state, { type: 'checked', user: reply.body })
  else if (reply.status === 401) state = nextUserState(state, { type: 'checked', user: null })
  else state = nextUserState(state, { type: 'failed', error: reply.body.error ?? 'Network error' })
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
  leave()
  // What was typed belongs to someone who isn't signed in anymore.
  addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), { capture: true })
  try {
    sessionStorage.setItem(NOTE, '1')
  } catch {
    // Without storage, the page shows by itself whose it is.
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
 * After a refusal because of the page's token: gets a fresh one and repeats the call, unless someone else is signed in
 * now.
 * @param again repeats it; null after the second refusal: then the browser keeps no cookies
 */
export async function recover<T>(refused: Answer<T>, again: (() => Promise<Answer<T>>) | null): Promise<Answer<T>> {
  if (!again) return withWords(refused, COOKIES_BLOCKED)
  const session = await fetch('/api/v1/users/get_session', { signal: untilLeft() })
  const token = session.headers.get('X-CSRF-Token')
  const meta = tokenMeta()
  if (!token || !meta) return refused
  const [shown, now] = [personOfToken(meta.content), personOfToken(token)]
  if (shown && now && shown !== now) return leaveToOther()
  // Signed out meanwhile: the refusal says so.
  if (shown !== now && shown) return refused
  meta.content = token
  return again()
}

function withWords<T>(refused: Answer<T>, sentence: string): Answer<T> {
  return { ...refused, body: { ...refused.body, error: sentence, message: sentence, errors: [sentence] } }
}
