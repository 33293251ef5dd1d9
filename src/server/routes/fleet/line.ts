import * as z from 'zod/mini'
import { message } from '../../../domain/wire/answers.ts'
import * as shape from '../../../domain/wire/fleet.ts'
import { checkbox, checkedNames, command, optionalNumber, parameters, text } from '../../http/fields.ts'
import { route } from '../../http/route.ts'
import { MAY_NOT_START } from './servers.ts'

const wishes = {
  name: text,
  stop_after: optionalNumber,
  environment: text,
  vehicle: text,
  max_gpus: optionalNumber,
  parameters,
  until: text,
  command,
  secrets: checkedNames,
}

/** Loaded when needed: most isolates never see a line. */
const answers = () => import('./line/answers.tsx')

export const line = [
  // It counts seconds.
  route('GET /line', { access: 'user', kind: 'page' }).answer(async (c) => (await answers()).page(c)),
  route('GET /api/v1/line', {
    access: 'user',
    scope: 'read',
    byItself: true,
    summary: 'Show your place in line',
    description: "`line` is null while you aren't in [line](#the-line).",
    answers: [200, z.object({ line: z.nullable(shape.linePlace) })],
    refuses: ['not_found'],
    when: { 404: 'the site has no line' },
  }).answer(async (c) => (await answers()).show(c)),
  route('POST /api/v1/line', {
    access: 'user',
    scope: 'operate',
    form: { at: '/line', done: '/line' },
    takes: z.object({ ...wishes, start: checkbox }),
    summary: 'Wait in line for a server',
    description: [
      '`max_gpus` chooses [the size](#the-line) of the machine.',
      '`start` true: at your turn, we start your server as the other fields say.',
      'Otherwise, we hold the place for 5 minutes.',
      'Calling it again changes that and keeps your place unless you change the size.',
      'The wait ends with the API token that made the call.',
      'After a new password, we hold the place.',
    ],
    answers: [201, z.extend(message, { line: shape.linePlace })],
    refuses: [...MAY_NOT_START, 'not_found', 'no_capacity'],
    when: {
      409: 'a server is live, a place is free, or another account of your mailbox waits',
      429: 'as a start, and beyond 60 an hour',
    },
  }).answer(async (c) => (await answers()).join(c, c.req.valid('json'))),
  route('DELETE /api/v1/line', {
    access: 'user',
    scope: 'operate',
    form: { at: '/line', done: '/line' },
    summary: 'Leave the line',
    description: 'This also gives up a held place.',
    answers: [200, z.extend(message, { line: z.null() })],
    refuses: ['not_found'],
  }).answer(async (c) => (await answers()).leave(c)),
]
