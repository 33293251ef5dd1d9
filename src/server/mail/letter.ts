import type { MailedAct } from '../../domain/activity.ts'
import type { NoticeKind } from '../../domain/notice.ts'
import type { Mail } from '../ports/mailer.ts'

/** With `act`, the email is the record of what happened to its owner's account. */
export type MailContent = Omit<Mail, 'to'> & { act?: MailedAct }

/**
 * What we tell a person under the bell and by email, in the same words: the notice has the subject, the first sentence,
 * and the first link.
 */
export type Message = {
  kind: NoticeKind
  subject: string
  parts: Part[]
  /** Where the notice leads, if not to the first link. */
  page?: Link
}

type Link = { link: string; label: string }
type Part = string | Link | Typed

/** Text that someone else typed, line breaks kept: for emails to the operator, and for a program's own words to its user. */
type Typed = { typed: string }

/**
 * Composes an email as HTML and plain text from one source. The parts are our own sentences: an email to
 * anyone but the operator contains nothing that a stranger typed, so that nobody can send text through us.
 * The first link is the button. Styles are inline, because some readers drop a style sheet; the sheet only adds dark
 * colors. Long words wrap, in readers that know only one of the two ways as well. Nothing is loaded from anywhere.
 * @param offUrl the link that turns off emails of this kind; null if they always come
 */
export function composeMail(subject: string, parts: Part[], offUrl: string | null = null): MailContent {
  const main = parts.findIndex((part) => typeof part === 'object' && 'link' in part)
  const body = parts.map((part, i) => toHtml(part, i === main)).join('')
  const off = offUrl ? `<br><a class="s" style="color:#52605e" href="${escapeHtml(offUrl)}">${OFF}</a>` : ''
  return {
    subject,
    offUrl,
    text: [...parts.map(toText), SIGNATURE, ...(offUrl ? [`${OFF}:\n${offUrl}`] : []), ''].join('\n\n'),
    html: `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>${escapeHtml(subject)}</title><style>${DARK}</style></head><body class="b" style="margin:0;padding:24px 12px;background:#f3f6f5"><div style="max-width:520px;margin:0 auto;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif"><p class="t" style="margin:0 8px 12px;font-weight:600;color:#10201f"><span class="m" style="color:#006b4f">&#9650;</span> Proving Ground</p><div class="c" style="padding:24px;background:#ffffff;border:1px solid #d5dedc;border-radius:8px;overflow-wrap:anywhere;word-break:break-word"><h1 class="t" style="margin:0 0 16px;font-size:22px;line-height:1.3;color:#10201f">${escapeHtml(subject)}</h1>${body}</div><p class="s" style="margin:16px 8px 0;font-size:14px;color:#52605e">${SIGNATURE}${off}</p></div></body></html>`,
  }
}

export function composeMessage(kind: NoticeKind, subject: string, parts: Part[]): Message {
  return { kind, subject, parts }
}

function toText(part: Part): string {
  if (typeof part === 'string') return part
  return 'typed' in part ? part.typed : `${part.label}:\n${part.link}`
}

const P = 'class="t" style="margin:0 0 16px;color:#10201f'

function toHtml(part: Part, main: boolean): string {
  if (typeof part === 'string') return `<p ${P}">${escapeHtml(part)}</p>`
  if ('typed' in part) return `<p ${P};white-space:pre-wrap">${escapeHtml(part.typed)}</p>`
  const [link, label] = [escapeHtml(part.link), escapeHtml(part.label)]
  if (!main) return `<p ${P}"><a class="m" style="color:#006b4f" href="${link}">${label}</a></p>`
  return `<p style="margin:0 0 8px"><a class="a" style="display:inline-block;padding:11px 18px;border-radius:8px;background:#006b4f;color:#ffffff;font-weight:600;text-decoration:none" href="${link}">${label}</a></p><p class="s" style="margin:0 0 16px;font-size:13px;color:#52605e">${link}</p>`
}

/** Over the inline colors, where the reader shows dark. */
const DARK =
  '@media (prefers-color-scheme:dark){.b{background:#07100f!important}.c{background:#0c1716!important;border-color:#243331!important}.t{color:#e6efed!important}.s{color:#9fb0ad!important}.m{color:#5ee4b8!important}.a{background:#5ee4b8!important;color:#07100f!important}}'

const OFF = 'Turn off emails like this one'
const SIGNATURE = 'Proving Ground: Simulate. Deploy. Win.'

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}
