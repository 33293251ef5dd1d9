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
