import { CONFIRMATION_SENT, INVALID_CREDENTIALS, PROFILE_UPDATED } from '../domain/user.ts'
import type { User } from '../domain/wire/accounts.ts'
import type { Answer } from './request.ts'

/** What the user reads after each of the account's calls. Null means it worked. */

export function signUpFailure({ ok, status, body }: Answer<object>): string | null {
  if (ok) return null
  if (status === 500) return 'Internal Server Error'
  return body.errors?.length ? `Sign Up failed: ${body.errors.join(', ')}` : 'Error! Please try again!'
}

export function signInFailure({ ok, status, body }: Answer<{ user?: User }>): string | null {
  if (status === 0) return 'Network error. Please check your connection.'
  if (ok) return body.user?.id ? null : 'Unexpected response from server.'
  const fallback = status === 401 ? INVALID_CREDENTIALS : status < 500 ? 'Sign in failed.' : 'Login failed'
  return body.error || body.message || fallback
}

/** The password was right; the answer's page asks for the second factor. */
export function asksForFactor({ body }: Answer<{ page?: string }>): boolean {
  return body.code === 'second_factor_required' && body.page !== undefined
}

export function profileFailure({ ok, body }: Answer<{ user?: User }>): string | null {
  if (ok && body.status !== 'error' && body.user) return null
  return body.errors?.join(', ') || body.error || body.message || (ok ? 'Update failed' : 'Failed to update profile.')
}

export function profileSuccess({ body }: Answer<object>): string {
  return body.message || PROFILE_UPDATED
}

/** Whether the email is on its way, and what to say. */
export function resendOutcome({ ok, status, body }: Answer<object>): { sent: boolean; message: string } {
  if (ok) return { sent: true, message: body.message || CONFIRMATION_SENT }
  const ours = status === 422 || status === 429 ? body.error : undefined
  return { sent: false, message: ours || 'Unable to resend confirmation email. Please try again.' }
}
