import type { User } from './wire/accounts.ts'

/** What the client knows about who is signed in. */
export type UserState = { status: 'idle' | 'loading' | 'succeeded' | 'failed'; user: User | null; error: string | null }

export type UserEvent =
  | { type: 'check' }
  | { type: 'checked'; user: User | null }
  | { type: 'failed'; error: string }
  | { type: 'logout' }

export const NOBODY: UserState = { status: 'idle', user: null, error: null }

export function nextUserState(state: UserState, event: UserEvent): UserState {
  switch (event.type) {
    case 'check':
      return { ...state, status: 'loading', error: null }
    case 'checked':
      return { status: 'succeeded', user: event.user, error: null }
    case 'failed':
      return { ...state, status: 'failed', error: event.error }
    case 'logout':
      return NOBODY
  }
}

/** Until the check is done, a spinner covers the app. */
export function isChecking(state: UserState): boolean {
  return state.status === 'idle' || state.status === 'loading'
}

/**
 * The user in a page's bootstrap block; null when nobody is signed in.
 * @throws if the block is not what the server writes: the state is corrupted
 */
export function readBootstrapUser(json: string | null | undefined): User | null {
  const { user } = JSON.parse(String(json)) as { user?: unknown }
  if (user === null) return null
  const { id, name, email, admin } = (user ?? {}) as Record<string, unknown>
  if (typeof id === 'string' && typeof name === 'string' && typeof email === 'string' && typeof admin === 'boolean')
    return { id, name, email, admin }
  throw new Error('The bootstrap block holds no user state')
}
