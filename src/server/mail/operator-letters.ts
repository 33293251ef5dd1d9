import { composeMail, type MailContent } from './letter.ts'

/** What an operator did to someone's account. Their reason stays in the audit log. */

export function stoppedByUsMail(): MailContent {
  return composeMail('We stopped your server', [
    'We stopped your server. You pay only for the time until then.',
    'Contact us to find out why.',
  ])
}

export function heldMail(): MailContent {
  return composeMail('We suspended your account', [
    "We suspended your account, so you can't start servers for now. If a server is running, it keeps running.",
    'Contact us to find out why.',
  ])
}
