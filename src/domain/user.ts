import * as v from 'valibot'
import { rule } from './form.ts'
import { characters, isEmail, MAX_NAME, normalEmail, normalName, usableName } from './person.ts'

const MIN_PASSWORD = 6
const MAX_PASSWORD = 128

/** The sentences that browser and server share, many of them from the specification. */
// Stryker disable StringLiteral: text for people; the route and browser tests check it.
const ALL_FIELDS_REQUIRED = 'All fields are required.'
export const PASSWORDS_MATCH = 'Passwords match.'
export const PASSWORDS_DO_NOT_MATCH = 'Passwords do not match.'
const TERMS_REQUIRED = 'You must accept the Terms of Service.'
const CREDENTIALS_REQUIRED = 'Please enter your email and password.'
export const INVALID_CREDENTIALS = 'Invalid email or password.'
export const NOT_CONFIRMED = 'You have to confirm your email address before continuing.'
export const SIGNED_UP = 'Account created but you need to confirm you email!'
export const CONFIRMATION_SENT = 'Confirmation email sent. Please check your inbox.'
export const CONFIRMATION_FAILED = 'Invalid or expired confirmation link.'
export const CONFIRMED = 'Your email address is confirmed. You can sign in now.'
export const CONFIRMED_NO_TRIAL =
  'Your email address is confirmed. This mailbox already had its free trial, so your new account has none. Sign in and choose a plan to start servers.'
export const SIGNED_OUT = 'You are signed out.'
export const PROFILE_UPDATED = 'Profile updated successfully!'
export const CURRENT_PASSWORD_REQUIRED = 'Please enter your current password.'
export const CURRENT_PASSWORD_WRONG = 'Your current password is incorrect.'
const INVALID_EMAIL = 'Please enter a valid email.'
export const RESET_SENT = 'If that address has an account, a password reset link is on its way.'
export const RESET_FAILED = 'Invalid or expired password reset link.'
export const PASSWORD_RESET = 'Password changed. You can sign in now.'
export const DEVICE_SIGNED_OUT = 'Device signed out.'
export const SIGNED_OUT_EVERYWHERE = 'You are signed out everywhere.'
export const ACCOUNT_CLOSED = 'Your account is closed.'
/** For pages that show someone who isn't signed in anymore. */
export const nowSignedInAs = ({ name, email }: { name: string; email: string }) =>
  `You're now signed in as ${name || email} in this browser. The page was for someone else, so we changed nothing.`
export const RELOADING_FOR_OTHER = 'Someone else has signed in from this browser. Reloading…'
export const reloadedFor = (user: { name: string; email: string } | null) =>
  user
    ? `You're now signed in as ${user.name || user.email} in this browser, so we reloaded this page.`
    : "You're signed out in this browser now, so we reloaded this page."
export const NOW_SIGNED_OUT = "You're signed out in this browser now, so we changed nothing. Please try again."
export const PAGE_TOO_OLD = 'This page was too old, so we changed nothing. Please send it again.'
export const COOKIES_BLOCKED =
  'Your browser blocks cookies for this site. Allow them in its settings, reload this page, and try again.'
export const TYPED_BEFORE = 'Here is what you typed before you signed in. Please send it again.'
export const SESSION_ENDED = 'Your session has ended. Please sign in again.'
export const SESSION_IDLE = 'You were signed out after 24 hours without activity. Please sign in again.'
export const SESSION_REVOKED =
  'This device was signed out from another device, or by a new password or second factor. Please sign in again.'
export const PASSWORD_HINT = `At least ${MIN_PASSWORD} characters.`
export const COMMON_PASSWORD = 'This password is too common. Please choose another one.'
// Stryker restore StringLiteral

const text = v.string()

type Named = { name: string }
type Passwords = { password: string; password_confirmation: string }

const nameFits = <Form extends Named>() =>
  rule<Form>('name', (f) => characters(normalName(f.name)) <= MAX_NAME, `Name cannot exceed ${MAX_NAME} characters.`)
const nameIsUsable = <Form extends Named>() =>
  rule<Form>('name', (f) => usableName(f.name), "Name contains characters we can't display.")
const emailIsValid = <Form extends { email: string }>() => rule<Form>('email', (f) => isEmail(f.email), INVALID_EMAIL)
const shortEnough = <Form extends { password: string }>() =>
  rule<Form>(
    'password',
    (f) => characters(f.password) <= MAX_PASSWORD,
    `Password cannot exceed ${MAX_PASSWORD} characters.`,
  )
const longEnough = (password: string) => characters(password) >= MIN_PASSWORD
const tooShort = `must be at least ${MIN_PASSWORD} characters.`

/** @param wanted whether the form sets a new password at all */
// Stryker disable next-line ArrowFunction: runs while the module loads, before a mutant can be switched on.
const newPasswordRules = <Form extends Passwords>(wanted: (form: Form) => boolean) =>
  [
    rule<Form>(
      'password',
      (f) => !wanted(f) || Boolean(f.password && f.password_confirmation),
      'Please fill in both new password fields.',
    ),
    rule<Form>(
      'password_confirmation',
      (f) => f.password === f.password_confirmation,
      'New password and confirmation do not match.',
    ),
    rule<Form>('password', (f) => !wanted(f) || longEnough(f.password), `New password ${tooShort}`),
    shortEnough<Form>(),
  ] as const

export const signUpForm = v.pipe(
  v.object({ name: text, email: text, password: text, password_confirmation: text, terms_of_service: v.boolean() }),
  v.check(
    (f) => Boolean(normalName(f.name) && normalEmail(f.email) && f.password && f.password_confirmation),
    ALL_FIELDS_REQUIRED,
  ),
  rule('password_confirmation', (f) => f.password === f.password_confirmation, PASSWORDS_DO_NOT_MATCH),
  rule('terms_of_service', (f) => f.terms_of_service, TERMS_REQUIRED),
  emailIsValid(),
  nameFits(),
  nameIsUsable(),
  rule('password', (f) => longEnough(f.password), `Password ${tooShort}`),
  shortEnough(),
  v.transform((f) => ({ name: normalName(f.name), email: normalEmail(f.email), password: f.password })),
)

export const signInForm = v.pipe(
  v.object({ email: text, password: text }),
  v.check((f) => Boolean(normalEmail(f.email) && f.password), CREDENTIALS_REQUIRED),
  v.transform((f) => ({ email: normalEmail(f.email), password: f.password })),
)

/** Requests an email: another confirmation, or a password reset. */
export const emailForm = v.pipe(
  v.object({ email: text }),
  emailIsValid(),
  v.transform((f) => ({ email: normalEmail(f.email) })),
)

/** `newPassword` is null when every password field is empty: then only the name changes. */
export const profileForm = v.pipe(
  v.object({ name: text, current_password: text, password: text, password_confirmation: text }),
  rule('name', (f) => normalName(f.name) !== '', 'Please enter your name.'),
  nameFits(),
  nameIsUsable(),
  rule('current_password', (f) => !wantsNewPassword(f) || f.current_password !== '', CURRENT_PASSWORD_REQUIRED),
  ...newPasswordRules(wantsNewPassword),
  v.transform((f) => ({
    name: normalName(f.name),
    newPassword: wantsNewPassword(f) ? f.password : null,
  })),
)

/** Reached by an emailed link, without the old password. */
export const newPasswordForm = v.pipe(
  v.object({ reset_password_token: text, password: text, password_confirmation: text }),
  ...newPasswordRules<Passwords & { reset_password_token: string }>(() => true),
  v.transform((f) => ({ token: f.reset_password_token, password: f.password })),
)

/** For a click that only needs the password's confirmation. */
export const currentPasswordForm = v.pipe(
  v.object({ current_password: text }),
  rule('current_password', (f) => f.current_password !== '', CURRENT_PASSWORD_REQUIRED),
)

function wantsNewPassword(f: Passwords & { name: string; current_password: string }): boolean {
  return Boolean(f.current_password || f.password || f.password_confirmation)
}
