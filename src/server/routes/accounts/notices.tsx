import type { SQL } from 'drizzle-orm'
import * as z from 'zod/mini'
import { MAIL_KINDS, type MailKind } from '../../../domain/notice.ts'
import { message } from '../../../domain/wire/answers.ts'
import * as shape from '../../../domain/wire/events.ts'
import { numberOrNull, optionalCheckbox, optionalText } from '../../http/fields.ts'
import { route } from '../../http/route.ts'
import { mutedMailsQuery, noticesQuery } from '../../mail/bell.ts'
import type { Context } from '../../runtime/context.ts'

const kinds = Object.fromEntries(Object.keys(MAIL_KINDS).map((kind) => [kind, optionalCheckbox])) as Record<
  MailKind,
  typeof optionalCheckbox
>

const noticeReads = (ctx: Context, userId: SQL) => [noticesQuery(ctx, userId)] as const

const answers = () => import('./notices/answers.tsx')

/** What happened, which of it goes out as email, and when an idle server ends. */
export const notices = [
  route('GET /notices', { access: 'user', kind: 'page', reads: noticeReads }).answer(async (c, found) =>
    (await answers()).page(c, found),
  ),
  route('GET /notices/latest', { access: 'user', reads: noticeReads, byItself: true }).answer(async (c, found) =>
    (await answers()).latest(c, found),
  ),
  route('GET /api/v1/notices', {
    access: 'user',
    scope: 'read',
    reads: noticeReads,
    byItself: true,
    summary: 'List your latest notices, newest first',
    description: 'The latest 100.',
    answers: [200, z.object({ notices: z.array(shape.notice), unread: z.int() })],
  }).answer(async (c, found) => (await answers()).list(c, found)),
  route('POST /api/v1/notices/read', {
    access: 'user',
    form: { at: '/notices', done: '/notices', back: true },
    takes: z.object({ until: optionalText }),
    mayBeEmpty: true,
    summary: 'Mark your notices as read',
    description: 'On every device; with `until` (optional), only those up to that time.',
    answers: [200, message],
    refuses: ['invalid'],
  }).answer(async (c) => (await answers()).read(c, c.req.valid('json').until || null)),
  route('GET /mails', {
    access: 'user',
    kind: 'page',
    reads: (ctx, userId) => [mutedMailsQuery(ctx, userId)] as const,
    ahead: 'press',
  }).answer(async (c, found) => (await answers()).mails(c, found)),
  route('POST /api/v1/mails', {
    access: 'user',
    form: { at: '/mails', done: '/mails' },
    takes: z.object(kinds),
    summary: 'Choose your emails: those you leave out stay as they are',
    description: [
      'Each field is a kind of notice that may also come by email.',
      'Security, money owed, and files that we delete always come.',
    ],
    answers: [200, z.extend(message, { mails: shape.mails })],
  }).answer(async (c) => (await answers()).choose(c, c.req.valid('json'))),
  route('GET /api/v1/idle', {
    access: 'user',
    scope: 'read',
    summary: 'See after how many minutes without use your server stops',
    description: 'Null: never.',
    answers: [200, z.object({ minutes: z.nullable(z.int()) })],
  }).answer(async (c) => (await answers()).idleSetting(c)),
  route('POST /api/v1/idle', {
    access: 'user',
    scope: 'operate',
    form: { at: '/settings/servers#idle', done: '/settings/servers#idle' },
    takes: z.object({ minutes: numberOrNull }),
    summary: 'Stop idle servers',
    description: [
      'After 15 to 240 minutes without use (`/docs/images#idle`).',
      '`minutes` is required; null means never.',
    ],
    answers: [200, z.extend(message, { minutes: z.nullable(z.int()) })],
    refuses: ['invalid'],
    when: { 429: 'sixty an hour' },
  }).answer(async (c) => (await answers()).setIdle(c, c.req.valid('json').minutes)),
  // Opening the link changes nothing: mail scanners do.
  // Their key is all that counts. Mail providers send it.
  route('GET /mails/off', { access: 'public', kind: 'page' }).answer(async (c) => (await answers()).offPage(c)),
  route('POST /mails/off', {
    access: 'public',
    fromPrograms: true,
    description: [
      '200: the link in the `List-Unsubscribe` header of our emails about notices ([RFC 8058](https://www.rfc-editor.org/rfc/rfc8058)), for mail providers, with `List-Unsubscribe=One-Click` as its body.',
      'It turns off one kind for one account and needs no sign-in.',
      'Opening the link changes nothing.',
    ],
    query: { of: 'Whose', kind: 'Of which notices', key: 'From the email' },
    when: { 400: 'another body', 404: 'a wrong key' },
  }).answer(async (c) => (await answers()).turnOff(c)),
]
