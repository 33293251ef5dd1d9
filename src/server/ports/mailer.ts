export type Mail = {
  to: string
  subject: string
  text: string
  html: string
  /** Where replies go, if not to the sender. One address. */
  replyTo?: string | undefined
}

/** Throws if the mail was not accepted; you may retry. */
export type Mailer = { send(mail: Mail): Promise<void> }
