import { composeMail, type MailContent } from './letter.ts'

type What = 'added' | 'changed' | 'removed'

const SUBJECTS = {
  added: 'You have a new secret',
  changed: 'A secret of yours changed',
  removed: 'A secret of yours is gone',
}
const WHAT = {
  added: (name: string) => `added the secret ${name} to your account. Starts of your own images can use it.`,
  changed: (name: string) => `changed the secret ${name}. From now on, starts that name it use the new value.`,
  removed: (name: string) => `removed the secret ${name}. From now on, a start that names it fails.`,
}

/** A name can't say much: its letters are capital. */
export function secretMail(origin: string, name: string, what: What): MailContent {
  const link = { link: `${origin}/secrets`, label: 'See your secrets' }
  return { ...letter(origin, SUBJECTS[what], WHAT[what](name), link), act: `secret_${what}` }
}

const LOGIN_SUBJECTS = {
  added: 'You have a new registry login',
  changed: 'A registry login of yours changed',
  removed: 'A registry login of yours is gone',
}
const WHAT_LOGIN = {
  added: (host: string) =>
    `added a login for ${host} to your account. Servers with your own images use it to pull them.`,
  changed: (host: string) =>
    `changed the login for ${host}. From now on, servers pull your own images with the new one.`,
  removed: (host: string) => `removed the login for ${host}. From now on, servers pull your own images without it.`,
}

export function registryMail(origin: string, host: string, what: What): MailContent {
  const link = { link: `${origin}/registries`, label: 'See your registry logins' }
  return { ...letter(origin, LOGIN_SUBJECTS[what], WHAT_LOGIN[what](host), link), act: `login_${what}` }
}

function letter(origin: string, subject: string, what: string, link: { link: string; label: string }): MailContent {
  return composeMail(subject, [
    `Someone, probably you, ${what}`,
    link,
    "If it wasn't you, choose a new password right away:",
    { link: `${origin}/forgot_password`, label: 'Choose a new password' },
  ])
}
