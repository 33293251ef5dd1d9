import { composeMail, type MailContent } from './letter.ts'

const SUBJECTS = {
  totp_added: 'Your account has an authenticator app',
  totp_removed: 'Your authenticator app is removed',
  codes_renewed: 'You have new recovery codes',
  code_used: 'A recovery code was used',
}
const WHAT = {
  totp_added:
    'added an authenticator app to your account. From now on, signing in asks for its code as well. We signed you out on every other device.',
  totp_removed: 'removed the authenticator app from your account.',
  codes_renewed: 'made new recovery codes for your account. The earlier ones no longer work.',
  code_used: 'used one of your recovery codes. It no longer works.',
}

export type FactorChange = keyof typeof WHAT

/** For admins: their mailbox proves, beside the password, that it is them. */
export function factorLinkMail(origin: string, token: string): MailContent {
  return composeMail('Add a second factor', [
    'You asked for this link to add an authenticator app to your admin account. You also need your password.',
    { link: `${origin}/account_security?link=${token}`, label: 'Add an authenticator app' },
    "The link works once, within 10 minutes. If you didn't ask for it, someone knows your password: choose a new one.",
    { link: `${origin}/forgot_password`, label: 'Choose a new password' },
  ])
}

/** An operator did it. The script that sends it doesn't know the site's address. */
export function factorsRemovedMail(): MailContent {
  return composeMail('Your second factor is removed', [
    'We removed the authenticator app and the recovery codes of your account, because you told us that you lost them. Your password alone signs you in until you add a new app under Settings, Two-factor sign-in.',
    "If you didn't ask for this, choose a new password right away, and write to us.",
  ])
}

/** Each change of a second factor, and each recovery code that someone used. */
export function factorMail(origin: string, what: FactorChange): MailContent {
  const letter = composeMail(SUBJECTS[what], [
    `Someone, probably you, ${WHAT[what]}`,
    { link: `${origin}/account_security`, label: 'See your two-factor sign-in' },
    "If it wasn't you, choose a new password right away, and write to us if you can't sign in anymore:",
    { link: `${origin}/forgot_password`, label: 'Choose a new password' },
    { link: `${origin}/contact_sales`, label: 'Write to us' },
  ])
  return { ...letter, act: what }
}
