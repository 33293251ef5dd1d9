import { deviceName } from '../../domain/device-name.ts'
import { instantText, toIso } from '../../domain/instant.ts'
import { composeMail, type MailContent } from './letter.ts'

/** The most an account gets in a day. Otherwise, someone with its password could flood its mailbox. */
export const NEW_BROWSER_MAILS = 3

/** Names the browser in our own words, because a stranger may have typed what it says about itself. */
export function newBrowserMail(
  origin: string,
  { userAgent, address, at }: { userAgent: string | null; address: string | null; at: number },
): MailContent {
  const from = address ? `, from the address ${address}` : ''
  const letter = composeMail('New browser signed in', [
    `Someone, probably you, signed in to your account with a new browser: ${deviceName(userAgent)}${from}, on ${instantText(toIso(at), false)}.`,
    { link: `${origin}/activity`, label: "See your account's activity" },
    "If it was you, there is nothing to do. If it wasn't, choose a new password right away. That signs out every browser:",
    { link: `${origin}/forgot_password`, label: 'Choose a new password' },
    `We send this at most ${NEW_BROWSER_MAILS} times a day.`,
  ])
  return { ...letter, act: 'new_browser' }
}
