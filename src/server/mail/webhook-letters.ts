import { composeMail, composeMessage, type MailContent, type Message } from './letter.ts'

/** Doesn't say its URL: a stranger may have typed it. */
export function webhookMadeMail(origin: string, id: string): MailContent {
  const letter = composeMail('You have a new webhook', [
    'Someone, probably you, added a webhook to your account. From now on, we tell its URL what happens to your servers and bills.',
    { link: `${origin}/webhooks/${id}`, label: 'See the webhook' },
    "If it wasn't you, delete the webhook and choose a new password right away:",
    { link: `${origin}/forgot_password`, label: 'Choose a new password' },
  ])
  return { ...letter, act: 'webhook_added' }
}

export function webhookOffMail(origin: string, id: string, because: 'failing' | 'gone'): Message {
  const why =
    because === 'gone'
      ? 'One of your webhooks answered 410 (Gone), so we switched it off.'
      : "For a whole day, one of your webhooks didn't accept an event, so we switched it off."
  return composeMessage('webhook', 'We switched off a webhook', [
    why,
    'Until you turn it on again, we keep no events for it.',
    { link: `${origin}/webhooks/${id}`, label: 'See its answers, and turn it on again' },
  ])
}
