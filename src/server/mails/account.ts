import { composeMail, type MailContent } from './mail-content.ts'

/** The mails of the account's life. `origin` is the site's first own origin, never what a request claims. */

export function confirmEmailMail(origin: string, token: string): MailContent {
  return composeMail('Confirm your email address', [
    'Welcome to Proving Ground. Confirm your email address to start your free trial of 30 minutes:',
    { link: `${origin}/confirm_email?confirmation_token=${token}`, label: 'Confirm my email address' },
    'The link works for 24 hours. If you did not sign up, ignore this mail: nothing happens without your click.',
  ])
}

export function alreadySignedUpMail(origin: string): MailContent {
  return composeMail('You already have an account', [
    'Someone, probably you, tried to sign up with this address, but it already has an account. Nothing was changed.',
    { link: `${origin}/sign_in`, label: 'Sign in' },
    { link: `${origin}/forgot_password`, label: 'Choose a new password, if you forgot yours' },
    { link: `${origin}/confirm_email`, label: 'Get a new confirmation link, if yours expired' },
    'If it was not you, ignore this mail.',
  ])
}

export function passwordChangedMail(origin: string): MailContent {
  return composeMail('Your password was changed', [
    'The password of your account was changed just now, and every other device was signed out.',
    'If it was you, there is nothing to do. If it was not, choose a new password at once:',
    { link: `${origin}/forgot_password`, label: 'Choose a new password' },
  ])
}
