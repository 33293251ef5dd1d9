import { deviceName } from '../../domain/device-name.ts'
import { instantText, toIso } from '../../domain/instant.ts'
import { composeMail, type MailContent } from './letter.ts'

const SUBJECTS = {
  totp_added: 'Your account has an authenticator app',
  totp_removed: 'Your authenticator app was removed',
  passkey_added: 'Your account has a new passkey',
  passkey_removed: 'A passkey was removed',
  codes_renewed: 'You have new recovery codes',
  code_used: 'A recovery code was used',
}
const WHAT = {
  totp_added:
    'added an authenticator app to your account. From now on, signing in with your password asks for its code as well.',
  totp_removed: 'removed the authenticator app from your account.',
  passkey_added:
    'added a passkey to your account. It signs in without your password, so if it was someone else, remove it first.',
  passkey_removed: 'removed a passkey from your account. It no longer signs in.',
  codes_renewed: 'made new recovery codes for your account. The earlier ones no longer work.',
  code_used: 'used one of your recovery codes. It no longer works.',
}

export type FactorChange = keyof typeof WHAT

/** For admins: their mailbox proves, beside the password, that it is them. */
export function factorLinkMail(origin: string, token: string): MailContent {
  return composeMail('Add a second factor', [
    'You asked for this link to add a passkey or an authenticator app to your admin account. You also need your password.',
    { link: `${origin}/account_security?link=${token}`, label: 'Add a second factor' },
    "The link works once, within 10 minutes. If you didn't ask for it, someone knows your password: choose a new one.",
    { link: `${origin}/forgot_password`, label: 'Choose a new password' },
  ])
}

/** An operator will do it, a day from now. */
export function factorRemovalMail(origin: string, dueAt: number): MailContent {
  return composeMail('We will remove your second factor', [
    `You told us, or someone who says they are you, that your second factor is lost. We will remove it and your recovery codes on ${instantText(toIso(dueAt), false)}. From then on, your password alone signs you in.`,
    'If you still have it, keep it: sign in with it, or press Keep it on this page. Either stops the removal.',
    { link: `${origin}/account_security`, label: 'Keep my second factor' },
    "If you didn't ask for this, also choose a new password, and write to us.",
    { link: `${origin}/forgot_password`, label: 'Choose a new password' },
    { link: `${origin}/contact_sales`, label: 'Write to us' },
  ])
}

export function factorKeptMail(origin: string): MailContent {
  return composeMail('Your second factor stays', [
    'We will not remove your second factor: someone who is signed in to your account kept it, or we took our decision back.',
    { link: `${origin}/activity`, label: "See your account's activity" },
  ])
}

/** An operator did it. The script that sends it doesn't know the site's address. */
export function factorsRemovedMail(): MailContent {
  return composeMail('Your second factor was removed', [
    'We removed the passkeys, the authenticator app, and the recovery codes of your account, because you told us that you lost them. Your password alone signs you in until you add new ones under Settings, Two-factor sign-in.',
    "If you didn't ask for this, choose a new password right away, and write to us.",
  ])
}

/** One for each change to a second factor, and for each recovery code used. */
export function factorMail(origin: string, what: FactorChange, isFirst?: 'first'): MailContent {
  const letter = composeMail(SUBJECTS[what], [
    `Someone, probably you, ${WHAT[what]}${isFirst ? ' We signed you out on every other device.' : ''}`,
    { link: `${origin}/account_security`, label: 'See your two-factor sign-in' },
    "If it wasn't you, choose a new password right away, and write to us if you can't sign in anymore:",
    { link: `${origin}/forgot_password`, label: 'Choose a new password' },
    { link: `${origin}/contact_sales`, label: 'Write to us' },
  ])
  return { ...letter, act: what }
}

/** The most an account gets in a day. Otherwise, someone with its password could flood its mailbox. */
export const STOPPED_MAILS = 3

/** Someone typed the right password, and nothing more. Names the browser in our own words: a stranger may have typed what it says. */
export function stoppedSignInMail(
  origin: string,
  { userAgent, address, at }: { userAgent: string | null; address: string | null; at: number },
): MailContent {
  const from = address ? `, from the address ${address}` : ''
  const letter = composeMail('Someone typed your password', [
    `Someone, maybe you, typed your password but didn't pass the second step, so we didn't sign them in: ${deviceName(userAgent)}${from}, on ${instantText(toIso(at), false)}.`,
    { link: `${origin}/activity`, label: "See your account's activity" },
    "If it was you, there is nothing to do. If it wasn't, someone knows your password, so choose a new one:",
    { link: `${origin}/forgot_password`, label: 'Choose a new password' },
    `We send this once a day for each network, and at most ${STOPPED_MAILS} times a day.`,
  ])
  return { ...letter, act: 'sign_in_stopped' }
}

/** The most about copied passkeys that an account gets in a day. */
export const COPIED_MAILS = 3

/** A passkey's counter went backward. */
export function passkeyCopiedMail(origin: string): MailContent {
  const letter = composeMail('We refused one of your passkeys', [
    'Someone tried to use one of your passkeys, or a copy of it: it was used more often before than it says now. We refused it.',
    'Remove it from your account, and add a new one:',
    { link: `${origin}/account_security`, label: 'See your passkeys' },
    "If it wasn't you, choose a new password as well:",
    { link: `${origin}/forgot_password`, label: 'Choose a new password' },
    `We send this at most ${COPIED_MAILS} times a day.`,
  ])
  return { ...letter, act: 'passkey_copied' }
}
