import type { Context as HonoContext } from 'hono'
import { renderToString } from 'react-dom/server'
import { AppError } from '../../../../domain/error.ts'
import { LATEST_NOTICES, MAILS_SAVED, type MailKind, NOTICES_READ } from '../../../../domain/notice.ts'
import { Mails } from '../../../../pages/Mails.tsx'
import { MailsOff } from '../../../../pages/MailsOff.tsx'
import { Notices } from '../../../../pages/Notices.tsx'
import { Latest } from '../../../../pages/notices/Latest.tsx'
import { idleMinutesQuery, setIdleMinutes } from '../../../fleet/idle-setting.ts'
import { type AppEnv, signedIn } from '../../../http/app-env.ts'
import { toAppError } from '../../../http/error-response.ts'
import { takeFlash } from '../../../http/flash.ts'
import { csrfToken } from '../../../http/middleware/csrf.ts'
import { bellOf, endingOf, renderPage } from '../../../http/render.tsx'
import { answer } from '../../../http/reply.ts'
import { chooseMails, markRead, toMailChoice, toNotice } from '../../../mail/bell.ts'
import { getMailKindOfLink, offPath, turnOffMail } from '../../../mail/off-link.ts'

type Call = HonoContext<AppEnv>
type NoticeRows = readonly [Parameters<typeof toNotice>[0][]]

export function page(c: Call, [rows]: NoticeRows): Response {
  const form = { csrfToken: csrfToken(c), flash: takeFlash(c), notices: rows.map(toNotice) }
  return renderPage(c, { title: 'Notices' }, <Notices {...form} />)
}

/** For the script on open pages. It's HTML so that the script and the pages share one source. */
export function latest(c: Call, [rows]: NoticeRows): Response {
  const notices = rows.slice(0, LATEST_NOTICES).map(toNotice)
  const parts = { bell: bellOf(c) ?? { unread: 0, lookIn: null }, ending: endingOf(c), csrfToken: csrfToken(c) }
  return c.html(renderToString(<Latest {...parts} notices={notices} />)) as Response
}

export function list(c: Call, [rows]: NoticeRows): Response {
  const notices = rows.map(toNotice)
  return c.json({ notices, unread: notices.filter(({ read }) => !read).length })
}

export async function read(c: Call, until: string | null): Promise<Response> {
  await markRead(c.var.ctx, signedIn(c).user.id, until)
  return answer(c, { message: NOTICES_READ })
}

export function mails(c: Call, [muted]: readonly [Parameters<typeof toMailChoice>[0]]): Response {
  const chosen = toMailChoice(muted)
  const form = { csrfToken: csrfToken(c), flash: takeFlash(c), hasFiles: c.var.ctx.config.files !== null }
  return renderPage(c, { title: 'Emails', assets: 'settings' }, <Mails mails={chosen} {...form} />)
}

export async function choose(c: Call, wanted: Record<MailKind, boolean | null>): Promise<Response> {
  const mails = await chooseMails(c.var.ctx, signedIn(c).user.id, wanted)
  return answer(c, { message: MAILS_SAVED, mails })
}

export async function idleSetting(c: Call): Promise<Response> {
  return c.json({ minutes: await idleMinutes(c) })
}

async function idleMinutes(c: Call): Promise<number | null> {
  const [row] = await idleMinutesQuery(c.var.ctx, signedIn(c).user.id)
  return row?.minutes ?? null
}

export async function setIdle(c: Call, minutes: number | null): Promise<Response> {
  return answer(c, await setIdleMinutes(c.var.ctx, signedIn(c).user.id, { minutes }))
}

/** As a URL-encoded form, or in multiple parts. */
const ONE_CLICK = /List-Unsubscribe"?[=\s]+One-Click/

/** From the page's button, or from a mail provider (RFC 8058), which sends no cookie and no origin. */
export async function turnOff(c: Call): Promise<Response> {
  const sent = await c.req.text()
  const byButton = sent === 'by=button'
  if (!byButton && !ONE_CLICK.test(sent)) throw new AppError('malformed', 'Send List-Unsubscribe=One-Click.')
  const done = turnOffMail(c.var.ctx, linkOf(c))
  if (!byButton) return c.json({ off: await done })
  // The page says what is wrong with the link.
  await done.catch((error) => {
    if (toAppError(error).code !== 'not_found') throw error
  })
  return offPage(c, true)
}

export function offPage(c: Call, done = false): Response {
  const link = linkOf(c)
  // The key is in this page's address.
  c.header('Referrer-Policy', 'no-referrer')
  const head = { title: 'Turn off emails', assets: 'text' } as const
  try {
    const kind = getMailKindOfLink(c.var.ctx, link)
    return renderPage(c, head, <MailsOff kind={kind} action={offPath(link)} fault={null} done={done} />)
  } catch (error) {
    const { message } = toAppError(error)
    return renderPage(c, head, <MailsOff kind={null} action="" fault={message} done={false} />, 404)
  }
}

const linkOf = (c: Call) => ({
  of: c.req.query('of') ?? '',
  kind: c.req.query('kind') ?? '',
  key: c.req.query('key') ?? '',
})
