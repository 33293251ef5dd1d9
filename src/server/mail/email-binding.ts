import type { Env } from '../env.ts'

export type Mail = {
  to: string
  subject: string
  text: string
  html: string
  /** Where an answer goes, if not to the sender. One address. */
  replyTo?: string | undefined
}

/** Throws when the mail was not taken; it may be tried again. */
export type Mailer = { send(mail: Mail): Promise<void> }

/** Cloudflare's `send_email` binding. */
export function emailBinding(env: Pick<Env, 'EMAIL' | 'MAIL_FROM'>): Mailer {
  return {
    async send(mail) {
      const { replyTo, ...rest } = mail
      await env.EMAIL.send({ from: env.MAIL_FROM, ...rest, ...(replyTo ? { replyTo } : {}) })
    },
  }
}
