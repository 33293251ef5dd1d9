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
    'If you closed your account lately: its address is free again 30 days after that.',
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

export function resetPasswordMail(origin: string, token: string): MailContent {
  return composeMail('Choose a new password', [
    'Someone, probably you, asked to choose a new password for your account:',
    { link: `${origin}/reset_password?reset_password_token=${token}`, label: 'Choose a new password' },
    'The link works once, within an hour. If it was not you, ignore this mail: your password stays as it is.',
  ])
}

export function accountClosedMail(): MailContent {
  return composeMail('Your account is closed', [
    'Your account is closed, as you asked. Its servers are stopped and every device is signed out.',
    'What was used until now is billed: if it comes to more than the plan included, an invoice follows today.',
    'Billing records are kept as long as the law asks for. The address can be used for a new account in 30 days.',
  ])
}
