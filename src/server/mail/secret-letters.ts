import { composeMail, type MailContent } from './letter.ts'

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
export function secretMail(origin: string, name: string, what: keyof typeof WHAT): MailContent {
  return composeMail(SUBJECTS[what], [
    `Someone, probably you, ${WHAT[what](name)}`,
    { link: `${origin}/secrets`, label: 'See your secrets' },
    "If it wasn't you, choose a new password right away:",
    { link: `${origin}/forgot_password`, label: 'Choose a new password' },
  ])
}
