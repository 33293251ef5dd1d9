import { Hono } from 'hono'
import * as z from 'zod/mini'
import { MAIL_KINDS, type MailKind } from '../../../domain/notice.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { body, numberOrNull, optionalCheckbox, optionalText } from '../../http/body.ts'

const kinds = Object.fromEntries(Object.keys(MAIL_KINDS).map((kind) => [kind, optionalCheckbox])) as Record<
  MailKind,
  typeof optionalCheckbox
>

const answers = () => import('./notices/answers.tsx')

/** What happened, which of it goes out as email, and when an idle server ends. */
export const notices = new Hono<AppEnv>()
  .get('/notices', async (c) => (await answers()).page(c))
  .get('/notices/latest', async (c) => (await answers()).latest(c))
  .get('/api/v1/notices', async (c) => (await answers()).list(c))
  .post('/api/v1/notices/read', body(z.object({ until: optionalText }), { optional: true }), async (c) =>
    (await answers()).read(c, c.req.valid('json').until || null),
  )
  .get('/mails', async (c) => (await answers()).mails(c))
  .post('/api/v1/mails', body(z.object(kinds)), async (c) => (await answers()).choose(c, c.req.valid('json')))
  .get('/idle', async (c) => (await answers()).idle(c))
  .get('/api/v1/idle', async (c) => (await answers()).idleSetting(c))
  .post('/api/v1/idle', body(z.object({ minutes: numberOrNull })), async (c) =>
    (await answers()).setIdle(c, c.req.valid('json').minutes),
  )
  // Opening the link changes nothing: mail scanners do.
  .get('/mails/off', async (c) => (await answers()).offPage(c))
  .post('/mails/off', async (c) => (await answers()).turnOff(c))
