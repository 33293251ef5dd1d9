import type { Env } from '../env.ts'
import type { Mailer } from '../ports/mailer.ts'

/** Cloudflare's `send_email` binding. */
export function emailBinding(env: Pick<Env, 'EMAIL' | 'MAIL_FROM'>): Mailer {
  return {
    async send(mail) {
      const { replyTo, ...rest } = mail
      await env.EMAIL.send({ from: env.MAIL_FROM, ...rest, ...(replyTo ? { replyTo } : {}) })
    },
  }
}

/** The address bounced before, so Cloudflare no longer sends to it. Trying again changes nothing. */
export const isRecipientRefused = (error: unknown) =>
  (error as { code?: unknown } | null)?.code === 'E_RECIPIENT_SUPPRESSED'
