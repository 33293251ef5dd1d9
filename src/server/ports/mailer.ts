export type Mail = {
  to: string
  subject: string
  text: string
  html: string
  /** Where replies go, if not to the sender. One address. */
  replyTo?: string | undefined
  /** The link that turns off emails like this one, for people and, with one click, for their mail provider (RFC 8058). */
  offUrl?: string | null
}

/** Throws if the mail was not accepted; you may retry. */
export type Mailer = { send(mail: Mail): Promise<void> }
