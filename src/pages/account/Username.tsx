import { createContext, use } from 'react'

/** Who the page is for; null: a visitor. */
export const SignedInAs = createContext<string | null>(null)

/** Whether their account has a second factor, which forms then ask for. */
export const HasFactor = createContext(false)

/** Whether one of its factors is a passkey. */
export const HasPasskey = createContext(false)

/** Tells password managers whose password a form is about. People don't see it. */
export function Username({ email }: { email?: string }) {
  const own = use(SignedInAs)
  const address = email ?? own
  return address ? <input type="email" name="account" autoComplete="username" value={address} readOnly hidden /> : null
}
