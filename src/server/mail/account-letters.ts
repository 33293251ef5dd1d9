import type { TokenScope } from '../../domain/api-token.ts'
import { instantText, toIso } from '../../domain/instant.ts'
import { CLOSED_DAYS } from '../../domain/retention.ts'
import { composeMail, type MailContent } from './letter.ts'

/** Emails about the account. `origin` comes from the settings, never from the request. */

export function confirmEmailMail(origin: string, token: string): MailContent {
  return composeMail('Confirm your email address', [
    'Welcome to Proving Ground. Your 30 free minutes start once you confirm:',
    confirmLink(origin, token),
    "The link works for 24 hours. If you didn't sign up, you can ignore this email.",
  ])
}

/** For an address with several unconfirmed sign-ups: any of them, even the latest, may be someone else's. */
export function confirmLatestMail(origin: string, token: string): MailContent {
  return composeMail('Confirm your email address', [
    'Someone, probably you, signed up for Proving Ground with this address again. This link confirms the latest sign-up and its password:',
    confirmLink(origin, token),
    'The link works for 24 hours. Links from before that sign-up no longer work.',
    "If you didn't just sign up, don't use this link. Sign up again to replace that sign-up with your own:",
    { link: `${origin}/sign_up`, label: 'Sign up' },
  ])
}

export function alreadySignedUpMail(origin: string): MailContent {
  return composeMail('You already have an account', [
    'Someone, probably you, tried to sign up with this address, but it already has an account. Nothing changed.',
    { link: `${origin}/sign_in`, label: 'Sign in' },
    { link: `${origin}/forgot_password`, label: 'Choose a new password if you forgot yours' },
    `Recently closed your account? You can use this address again ${CLOSED_DAYS} days after closing.`,
    "If it wasn't you, you can ignore this email.",
  ])
}

function confirmLink(origin: string, token: string) {
  return { link: `${origin}/confirm_email?confirmation_token=${token}`, label: 'Confirm my email address' }
}

export function passwordChangedMail(origin: string): MailContent {
  const letter = composeMail('Your password was changed', [
    'Your password was just changed. We signed you out on every other device and revoked your API tokens.',
    "If it was you, there is nothing to do. If it wasn't, choose a new password right away:",
    { link: `${origin}/forgot_password`, label: 'Choose a new password' },
  ])
  return { ...letter, act: 'password_changed' }
}

/** Doesn't include the name: a stranger who knows the password may have typed it. */
export function apiTokenMadeMail(
  origin: string,
  { scope, expiresAt }: { scope: TokenScope; expiresAt: number },
): MailContent {
  const may = scope === 'read' ? 'read your servers, usage, and bills' : 'start and stop servers, and read your bills'
  return composeMail('You have a new API token', [
    `Someone, probably you, created an API token for your account. Until ${instantText(toIso(expiresAt), false)}, a program with it may ${may}.`,
    "If it was you, there is nothing to do. If it wasn't, choose a new password right away. That revokes every token:",
    { link: `${origin}/forgot_password`, label: 'Choose a new password' },
    { link: `${origin}/settings/developers#api_tokens`, label: 'See your API tokens' },
  ])
}

export function resetPasswordMail(origin: string, token: string): MailContent {
  return composeMail('Choose a new password', [
    'Someone, probably you, asked to reset the password of your account:',
    { link: `${origin}/reset_password?reset_password_token=${token}`, label: 'Choose a new password' },
    "The link works once and expires in an hour. If it wasn't you, you can ignore this email: your password hasn't changed.",
  ])
}

export function accountClosedMail(): MailContent {
  return composeMail('Your account is closed', [
    'Your account is closed, as you asked. We stopped its servers and signed out every device.',
    "If you used more than your plan included, we'll send a final invoice today.",
    `We keep billing records as long as the law requires. You can use this address for a new account in ${CLOSED_DAYS} days.`,
  ])
}
