import { composeMail, type MailContent } from './letter.ts'

const SUBJECTS = {
  totp_added: 'Your account has an authenticator app',
  totp_removed: 'Your authenticator app is removed',
  codes_renewed: 'You have new recovery codes',
  code_used: 'A recovery code was used',
}
const WHAT = {
  totp_added: 'added an authenticator app to your account. From now on, signing in asks for its code as well.',
  totp_removed: 'removed the authenticator app from your account.',
  codes_renewed: 'made new recovery codes for your account. The earlier ones no longer work.',
  code_used: 'used one of your recovery codes. It no longer works.',
}

export type FactorChange = keyof typeof WHAT

/** Each change of a second factor, and each recovery code that someone used. */
export function factorMail(origin: string, what: FactorChange): MailContent {
  return composeMail(SUBJECTS[what], [
    `Someone, probably you, ${WHAT[what]}`,
    { link: `${origin}/account_security`, label: 'See your two-factor sign-in' },
    "If it wasn't you, choose a new password right away, and write to us if you can't sign in anymore:",
    { link: `${origin}/forgot_password`, label: 'Choose a new password' },
    { link: `${origin}/contact_sales`, label: 'Write to us' },
  ])
}
