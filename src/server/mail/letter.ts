import type { Mail } from '../ports/mailer.ts'

export type MailContent = Omit<Mail, 'to'>

type Part = string | { link: string; label: string } | Typed

/** Text that a stranger typed, line breaks kept: only for emails to the operator. */
type Typed = { typed: string }

/**
 * Composes an email as HTML and plain text from one source. The parts are our own sentences: an email to
 * anybody but the operator contains nothing that a stranger typed, so that nobody can send text through us.
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
