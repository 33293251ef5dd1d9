import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'

export type CapturedMail = {
  to: string
  from: string
  subject: string
  text: string
  html: string
  /** Only if replies go to someone other than the sender. */
  reply_to?: string
  /** Other headers of the email. */
  headers?: Record<string, string>
  sent_at: string
}

export type Mailbox = {
  /** @throws if a fault is injected or the email is invalid */
  accept(mail: Omit<CapturedMail, 'sent_at' | 'reply_to'> & { replyTo?: string }): void
  /** Newest first. */
  list(): CapturedMail[]
  inject(times: number): void
  /** Cancels all pending faults. */
  heal(): void
}

/** Stores what the `send_email` binding sent, across restarts. */
export function openMailbox(path: string, now: () => number): Mailbox {
  mkdirSync(dirname(path), { recursive: true })
  const kept = existsSync(path) ? readFileSync(path, 'utf8') : ''
  // A kill may have cut off the last line. The next mail needs a line of its own.
  if (!/(^|\n)$/.test(kept)) appendFileSync(path, '\n')
  const mails: CapturedMail[] = kept
    .split('\n')
    .filter(isWhole)
    .map((line) => JSON.parse(line))
  let faults = 0
  return {
    accept(mail) {
      if (faults > 0) {
        faults -= 1
        throw new Error('The mail service refused the email.')
      }
      for (const field of ['to', 'from', 'subject', 'text', 'html'] as const)
        if (typeof mail[field] !== 'string' || !mail[field]) throw new Error(`The email lacks the field "${field}".`)
      const { to, from, subject, text, html, replyTo = '', headers } = mail
      if (/[\r\n]/.test(to + from + subject + replyTo + Object.entries(headers ?? {})))
        throw new Error('An email header contains a line break.')
      const answers = { ...(replyTo ? { reply_to: replyTo } : {}), ...(headers ? { headers } : {}) }
      const captured = { to, from, subject, text, html, ...answers, sent_at: new Date(now()).toISOString() }
      appendFileSync(path, `${JSON.stringify(captured)}\n`)
      mails.push(captured)
    },
    list: () => mails.toReversed(),
    inject(times) {
      faults += times
    },
    heal() {
      faults = 0
    },
  }
}

function isWhole(line: string): boolean {
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}
