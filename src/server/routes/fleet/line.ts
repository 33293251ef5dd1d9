import * as z from 'zod/mini'
import * as shape from '../../../domain/wire.ts'
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
    answers: [200, z.object({ line: z.nullable(shape.linePlace) })],
    refuses: ['not_found'],
  }).answer(async (c) => (await answers()).show(c)),
  route('POST /api/v1/line', {
    access: 'user',
    scope: 'operate',
    form: { at: '/line', done: '/line' },
    takes: z.object({ ...wishes, start: checkbox }),
    summary: 'Wait in line for a server',
    answers: [201, z.extend(shape.message, { line: shape.linePlace })],
    refuses: [...MAY_NOT_START, 'not_found', 'no_capacity'],
  }).answer(async (c) => (await answers()).join(c, c.req.valid('json'))),
  route('DELETE /api/v1/line', {
    access: 'user',
    scope: 'operate',
    form: { at: '/line', done: '/line' },
    summary: 'Leave the line',
    answers: [200, z.extend(shape.message, { line: z.null() })],
    refuses: ['not_found'],
  }).answer(async (c) => (await answers()).leave(c)),
]
