import { message } from '../../../domain/wire/answers.ts'
import * as shape from '../../../domain/wire/fleet.ts'
import { route } from '../../http/route.ts'

/** Loaded when needed: every isolate would evaluate it at startup. */
const answers = () => import('./log/answers.ts')

/** What a run's machine and its program print, and how busy they are. */
export const log = [
  route('GET /api/v1/servers/:id/log', {
    access: 'user',
    scope: 'read',
    byItself: true,
    summary: "Read a server's log: what its program prints, and what its machine does with it",
    answers: [200, shape.logPart],
    query: {
      after: {
        description: 'The lines that follow the one with this number. All by default',
        schema: { type: 'integer', minimum: 0 },
      },
    },
    refuses: ['not_found', 'invalid'],
    when: { 422: "`after` isn't a number" },
  }).answer(async (c) => (await answers()).read(c, c.req.param('id'))),
  route('DELETE /api/v1/servers/:id/log', {
    access: 'user',
    scope: 'operate',
    form: { at: '/servers/:id', done: '/servers/:id' },
    summary: "Delete a server's log so far",
    answers: [200, message],
    refuses: ['not_found'],
  }).answer(async (c) => (await answers()).remove(c, c.req.param('id'))),
  route('GET /api/v1/servers/:id/metrics', {
    access: 'user',
    scope: 'read',
    byItself: true,
    summary: "Show how busy a server's machine is: GPU, CPU, memory, disk, and network",
    answers: [200, shape.metrics],
    query: {
      since: {
        description: 'The samples from this time on. The last hour by default',
        schema: { type: 'string', format: 'date-time' },
      },
    },
    refuses: ['not_found', 'invalid'],
    when: { 422: "`since` isn't a time" },
  }).answer(async (c) => (await answers()).readMetricsOf(c, c.req.param('id'))),
  route('GET /servers/:id/log.txt', { access: 'user', kind: 'page', scope: 'read', file: true }).answer(async (c) =>
    (await answers()).download(c, c.req.param('id')),
  ),
]
