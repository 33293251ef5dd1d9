import { composeMail, composeMessage, type MailContent, type Message } from './letter.ts'

const LETTERS = {
  webhook_added: {
    subject: 'You have a new webhook',
    what: 'added a webhook to your account. From now on, we tell its URL what happens to your servers and bills.',
    undo: 'delete the webhook and choose a new password right away:',
  },
  webhook_secret_replaced: {
    subject: 'One of your webhooks has a new secret',
    what: 'replaced the secret of a webhook. The earlier one signs for another day.',
    undo: 'choose a new password right away, and then replace the secret again:',
  },
  webhook_removed: {
    subject: 'One of your webhooks was deleted',
    what: 'deleted one of your webhooks. We no longer send anything to its URL.',
    undo: 'choose a new password right away:',
  },
}

/** Doesn't include the URL: a stranger may have typed it. */
export function webhookMail(origin: string, id: string, act: keyof typeof LETTERS): MailContent {
  const { subject, what, undo } = LETTERS[act]
  const letter = composeMail(subject, [
    `Someone, probably you, ${what}`,
    act === 'webhook_removed'
      ? { link: `${origin}/settings/developers#webhooks`, label: 'See your webhooks' }
      : { link: `${origin}/webhooks/${id}`, label: 'See the webhook' },
    `If it wasn't you, ${undo}`,
    { link: `${origin}/forgot_password`, label: 'Choose a new password' },
  ])
  return { ...letter, act }
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
