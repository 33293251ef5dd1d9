import type { Mail } from '../providers/mail.ts'

export type MailContent = Omit<Mail, 'to'>

type Part = string | { link: string; label: string }

/**
 * A mail as HTML and as text from one source. The parts are our own sentences: nothing that a stranger typed goes into a mail,
 * so that nobody can use us to send theirs.
 */
export function composeMail(subject: string, parts: Part[]): MailContent {
  const text = parts.map((part) => (typeof part === 'string' ? part : `${part.label}:\n${part.link}`))
  const html = parts.map((part) =>
    typeof part === 'string'
      ? `<p>${escapeHtml(part)}</p>`
      : `<p><a href="${escapeHtml(part.link)}">${escapeHtml(part.label)}</a><br><small>${escapeHtml(part.link)}</small></p>`,
  )
  return {
    subject,
    text: [...text, SIGNATURE, ''].join('\n\n'),
    html: `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escapeHtml(subject)}</title><body>${html.join('')}<p>${SIGNATURE}</p></body></html>`,
  }
}

const SIGNATURE = 'Proving Ground: Simulate. Deploy. Win.'

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}
