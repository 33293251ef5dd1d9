import { AppError } from '../../domain/error.ts'
import type { Mailer } from '../ports/mailer.ts'
import type { Env } from '../settings/env.ts'

/** Cloudflare's `send_email` binding. */
export function emailBinding(env: Pick<Env, 'EMAIL' | 'MAIL_FROM'>): Mailer {
  return {
    async send(mail) {
      const { replyTo, offUrl, ...rest } = mail
      const more = { ...(replyTo ? { replyTo } : {}), ...(offUrl ? { headers: oneClick(offUrl) } : {}) }
      try {
        await env.EMAIL.send({ from: env.MAIL_FROM, ...rest, ...more })
      } catch (cause) {
        if (!OF_THE_EMAIL.test(codeOf(cause))) throw cause
        throw new AppError('provider_failed', 'The mail service refused this email.', { cause })
      }
    },
  }
}

/** RFC 8058: mail providers show a button and post to the address themselves. */
const oneClick = (offUrl: string) => ({
  'List-Unsubscribe': `<${offUrl}>`,
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
})

const codeOf = (error: unknown) => String((error as { code?: unknown } | null)?.code)

/** Something in the email itself is wrong, such as its recipient. */
const OF_THE_EMAIL = /^E_(VALIDATION_ERROR|FIELD_MISSING|CONTENT_TOO_LARGE|HEADER\w*)$/

/** Trying again changes nothing. That includes an address that bounced before: Cloudflare no longer sends to it. */
export const isRefusedForGood = (error: unknown) =>
  codeOf(error) === 'E_RECIPIENT_SUPPRESSED' || (error instanceof AppError && !error.retryable)
