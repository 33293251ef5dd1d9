import type { Mail } from '../ports/mailer.ts'

export type MailContent = Omit<Mail, 'to'>

type Part = string | { link: string; label: string } | Typed

/** What a stranger typed, line for line: for mail to the operator alone. */
type Typed = { typed: string }

/**
 * A mail as HTML and as text from one source. The parts are our own sentences: in a mail to anybody but the operator stands nothing that a
 * stranger typed, so that nobody can use us to send theirs.
 */
export function composeMail(subject: string, parts: Part[]): MailContent {
  return {
    subject,
    text: [...parts.map(toText), SIGNATURE, ''].join('\n\n'),
    html: `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escapeHtml(subject)}</title><body>${parts.map(toHtml).join('')}<p>${SIGNATURE}</p></body></html>`,
  }
}

function toText(part: Part): string {
  if (typeof part === 'string') return part
  return 'typed' in part ? part.typed : `${part.label}:\n${part.link}`
}

function toHtml(part: Part): string {
  if (typeof part === 'string') return `<p>${escapeHtml(part)}</p>`
  if ('typed' in part) return `<p style="white-space:pre-wrap">${escapeHtml(part.typed)}</p>`
  const link = escapeHtml(part.link)
  return `<p><a href="${link}">${escapeHtml(part.label)}</a><br><small>${link}</small></p>`
}

const SIGNATURE = 'Proving Ground: Simulate. Deploy. Win.'

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}
