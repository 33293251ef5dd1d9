import { isChecking, NOBODY, nextUserState, readBootstrapUser, type UserState } from '../domain/user-state.ts'
import type { User } from '../domain/wire.ts'
import { leave, request, stay } from './request.ts'

/**
 * The server tells each page who is signed in. A page from the back/forward cache may be out of date: cover it until
 * the server answers, and reload it if the user has changed.
 */
export function watchSession(): void {
  document.addEventListener('submit', ({ target }) => {
    if ((target as HTMLFormElement).action.endsWith('/users/sign_out')) leave()
  })
  window.addEventListener('pageshow', (event) => {
    stay()
    if (event.persisted) void checkSession()
  })
}

async function checkSession(): Promise<void> {
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

function cover(covered: boolean): void {
  const veil = document.getElementById('session-check')
  if (veil) veil.hidden = !covered
}
