import { composeMail, type MailContent } from './letter.ts'

type What = 'added' | 'changed' | 'removed'

const SUBJECTS = {
  added: 'You have a new secret',
  changed: 'One of your secrets changed',
  removed: 'One of your secrets was removed',
}
const WHAT = {
  added: (name: string) => `added the secret ${name} to your account. Starts of your own images can use it.`,
  changed: (name: string) => `changed the secret ${name}. From now on, starts that name it use the new value.`,
  removed: (name: string) => `removed the secret ${name}. From now on, a start that names it fails.`,
}

/** A name can't say much: it is in capital letters. */
export function secretMail(origin: string, name: string, what: What): MailContent {
  const link = { link: `${origin}/settings/developers#secrets`, label: 'See your secrets' }
  return { ...letter(origin, SUBJECTS[what], WHAT[what](name), link), act: `secret_${what}` }
}

const LOGIN_SUBJECTS = {
  added: 'You have a new registry login',
  changed: 'One of your registry logins changed',
  removed: 'One of your registry logins was removed',
}
const WHAT_LOGIN = {
  added: (host: string) =>
    `added a login for ${host} to your account. Servers with your own images use it to pull them.`,
  changed: (host: string) =>
    `changed the login for ${host}. From now on, servers pull your own images with the new one.`,
  removed: (host: string) => `removed the login for ${host}. From now on, servers pull your own images without it.`,
}

export function registryMail(origin: string, host: string, what: What): MailContent {
  const link = { link: `${origin}/settings/developers#registries`, label: 'See your registry logins' }
  return { ...letter(origin, LOGIN_SUBJECTS[what], WHAT_LOGIN[what](host), link), act: `login_${what}` }
}

const ENVIRONMENT_SUBJECTS = {
  added: 'You have a new environment',
  removed: 'One of your environments was removed',
}
const WHAT_ENVIRONMENT = {
  added: 'From now on, a start that names it runs its image, with your files and the secrets that the start names.',
  removed: 'From now on, a start that names it fails.',
}

/** Per day, for added and for removed ones: a program may swap an image with each build. Activity has all of them. */
export const ENVIRONMENT_MAILS = 3

/** Doesn't include the image: a stranger may have typed it. */
export function environmentMail(
  origin: string,
  name: string,
  what: 'added' | 'removed',
  tokenName: string | null,
): MailContent {
  const link = { link: `${origin}/settings/servers#environments`, label: 'See your environments' }
  const by = tokenName === null ? '' : ` with the API token ${tokenName}`
  const text = `${what} the environment ${name}${by}. ${WHAT_ENVIRONMENT[what]}`
  const often = `We send this at most ${ENVIRONMENT_MAILS} times a day. Your account's activity lists each.`
  return { ...letter(origin, ENVIRONMENT_SUBJECTS[what], text, link, often), act: `environment_${what}` }
}

function letter(
  origin: string,
  subject: string,
  what: string,
  link: { link: string; label: string },
  ...more: string[]
): MailContent {
  return composeMail(subject, [
    `Someone, probably you, ${what}`,
    link,
    "If it wasn't you, choose a new password right away:",
    { link: `${origin}/forgot_password`, label: 'Choose a new password' },
    ...more,
  ])
}
