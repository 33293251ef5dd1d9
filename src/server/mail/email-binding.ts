import type { Mailer } from '../ports/mailer.ts'
import type { Env } from '../settings/env.ts'

/** Cloudflare's `send_email` binding. */
export function emailBinding(env: Pick<Env, 'EMAIL' | 'MAIL_FROM'>): Mailer {
  return {
    async send(mail) {
      const { replyTo, offUrl, ...rest } = mail
      const more = { ...(replyTo ? { replyTo } : {}), ...(offUrl ? { headers: oneClick(offUrl) } : {}) }
      await env.EMAIL.send({ from: env.MAIL_FROM, ...rest, ...more })
    },
  }
}

/** RFC 8058: mail providers show a button and post to the address themselves. */
const oneClick = (offUrl: string) => ({
  'List-Unsubscribe': `<${offUrl}>`,
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
})

/** An earlier email bounced, so Cloudflare no longer sends to this address. Trying again changes nothing. */
export const isRecipientRefused = (error: unknown) =>
  (error as { code?: unknown } | null)?.code === 'E_RECIPIENT_SUPPRESSED'
