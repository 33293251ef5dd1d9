import * as z from 'zod/mini'
import { addedText } from '../../../domain/ending.ts'
import { toIso } from '../../../domain/instant.ts'
import { callerOf } from '../../http/caller.ts'
import { toAppError } from '../../http/error-response.ts'
import { text } from '../../http/fields.ts'
import { setFlash, takeFlash } from '../../http/flash.ts'
import { csrfToken } from '../../http/middleware/csrf.ts'
import { renderPage } from '../../http/render.tsx'
import { route } from '../../http/route.ts'

/** What the links in emails do to a server: give it another hour, or end it. Opening one changes nothing, because mail scanners do. */
export const runLinks = [
  route('GET /servers/:id/extend', { access: 'public', kind: 'page' }).answer(async (c) => {
    const { ctx } = c.var
    const key = c.req.query('key') ?? ''
    const [{ extendedEnd }, { getRunOfLink }, { ExtendServer }] = await Promise.all([
      import('../../accounts/extend-link.ts'),
      import('../../accounts/run-link.ts'),
      import('../../../pages/ExtendServer.tsx'),
    ])
    const run = await getRunOfLink(ctx, 'extend', c.req.param('id'), key, callerOf(c)).catch((error) =>
      toAppError(error),
    )
    // The key is in this page's address.
    c.header('Referrer-Policy', 'no-referrer')
    const form = { csrfToken: csrfToken(c), flash: takeFlash(c), link: { id: c.req.param('id'), key } }
    const head = { title: 'Keep your server', assets: 'public' } as const
    if (!('id' in run)) {
      if (run.code !== 'not_found') throw run
      return renderPage(c, head, <ExtendServer {...form} fault={run.message} />, 404)
    }
    const now = ctx.now()
    const isLive = run.stopRequestedAt === null && run.endedAt === null && (run.endsAt ?? now + 1) > now
    const ends = {
      isLive,
      endsAt: toIso(run.endsAt),
      next: toIso(extendedEnd(run, now)),
      freeUntil: toIso(run.mustStopAt),
      planEnds: run.planEnds,
    }
    return renderPage(c, head, <ExtendServer {...form} ends={ends} />)
  }),
  // Its key is all that counts.
  route('POST /servers/:id/extend', {
    access: 'public',
    form: { at: '/servers/:id/extend', done: '/servers/:id/extend', keeps: { query: 'key', field: 'key' } },
    forAnyone: true,
    takes: z.object({ key: text, ends_at: text }),
    description: [
      '200 `{ends_at}`: the form behind the link in the email before an end.',
      'It needs no sign-in, adds an hour to the `ends_at` it names, and works for that run until it ends.',
      'Opening its page changes nothing.',
    ],
    refuses: ['too_many'],
    when: { 404: 'a wrong key', 409: 'the end has moved or come' },
  }).answer(async (c) => {
    const id = c.req.param('id')
    const { key, ends_at } = c.req.valid('json')
    const { extendByLink } = await import('../../accounts/extend-link.ts')
    const done = extendByLink(c.var.ctx, id, { key, endsAt: ends_at, caller: callerOf(c) })
    if (!c.var.form) return c.json({ ends_at: toIso((await done).endsAt) })
    await done.then(
      ({ endsAt, mustStopAt }) => {
        const added = Math.min(endsAt ?? 0, mustStopAt ?? Infinity) - Date.parse(ends_at)
        setFlash(c, { kind: 'success', message: `You have ${addedText(added)} more.` })
      },
      (error) => setFlash(c, { kind: 'danger', message: toAppError(error).message }),
    )
    return c.redirect(`/servers/${encodeURIComponent(id)}/extend?key=${encodeURIComponent(key)}`, 303)
  }),
  route('GET /servers/:id/stop', { access: 'public', kind: 'page' }).answer(async (c) => {
    const { ctx } = c.var
    const key = c.req.query('key') ?? ''
    const [{ getRunOfLink }, { StopByLink }] = await Promise.all([
      import('../../accounts/run-link.ts'),
      import('../../../pages/StopByLink.tsx'),
    ])
    const id = c.req.param('id')
    const run = await getRunOfLink(ctx, 'stop', id, key, callerOf(c)).catch((error) => toAppError(error))
    // The key is in this page's address.
    c.header('Referrer-Policy', 'no-referrer')
    const form = { csrfToken: csrfToken(c), flash: takeFlash(c), link: { id, key } }
    const head = { title: 'Stop your server', assets: 'public' } as const
    if (!('id' in run)) {
      if (run.code !== 'not_found') throw run
      return renderPage(c, head, <StopByLink {...form} fault={run.message} />, 404)
    }
    const isLive = run.stopRequestedAt === null && run.endedAt === null
    return renderPage(c, head, <StopByLink {...form} run={{ isLive, name: run.name, since: toIso(run.billedFrom) }} />)
  }),
  // Its key is all that counts.
  route('POST /servers/:id/stop', {
    access: 'public',
    form: { at: '/servers/:id/stop', done: '/servers/:id/stop', keeps: { query: 'key', field: 'key' } },
    forAnyone: true,
    takes: z.object({ key: text }),
    description: [
      '202 `{message}`: the form behind the link in the email we send each day a server runs.',
      'It needs no sign-in and works for that run until it ends.',
      'Opening its page changes nothing.',
    ],
    refuses: ['too_many'],
    when: { 404: 'a wrong key', 409: 'it is stopping or stopped' },
  }).answer(async (c) => {
    const id = c.req.param('id')
    const { key } = c.req.valid('json')
    const { stopByLink } = await import('../../accounts/run-link.ts')
    const done = stopByLink(c.var.ctx, id, key, callerOf(c))
    if (!c.var.form) {
      await done
      return c.json({ message: STOPPED_BY_LINK }, 202)
    }
    await done.then(
      () => setFlash(c, { kind: 'success', message: STOPPED_BY_LINK }),
      (error) => setFlash(c, { kind: 'danger', message: toAppError(error).message }),
    )
    return c.redirect(`/servers/${encodeURIComponent(id)}/stop?key=${encodeURIComponent(key)}`, 303)
  }),
]

const STOPPED_BY_LINK = 'Stopping the server. You pay nothing from now on.'
