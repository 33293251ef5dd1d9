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
