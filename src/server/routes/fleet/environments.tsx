import * as z from 'zod/mini'
import { message } from '../../../domain/wire/answers.ts'
import * as shape from '../../../domain/wire/fleet.ts'
import { text } from '../../http/fields.ts'
import { route } from '../../http/route.ts'

const ON_PAGE = { at: '/settings/servers#environments', done: '/settings/servers#environments' }

/** Loaded when needed: few people bring images, and every isolate would evaluate this at startup. */
const answers = () => import('./environments/answers.tsx')

export const environments = [
  route('POST /api/v1/environments', {
    access: 'user',
    scope: 'operate',
    form: ON_PAGE,
    takes: z.object({ name: text, image: text }),
    summary: 'Add a container image of your own as an environment',
    description: [
      'Build Your Own.',
      '`image` is a reference in a public registry; `digest` is null if it names only a tag.',
      'The list of environments then includes it.',
      'We email you, at most three times a day.',
    ],
    answers: [201, z.extend(message, { environment: shape.ownEnvironment })],
    refuses: ['forbidden', 'conflict', 'invalid'],
    when: {
      403: "the plan doesn't include it",
      409: 'the name is taken, or you have 10',
      429: '200 an hour, with removals',
    },
  }).answer(async (c) => (await answers()).add(c, c.req.valid('json'))),
  route('DELETE /api/v1/environments/:name', {
    access: 'user',
    scope: 'operate',
    form: ON_PAGE,
    summary: 'Remove an environment of your own',
    description: ['Running servers keep running.', 'We email you, at most three times a day.'],
    answers: [200, message],
    refuses: ['not_found', 'too_many'],
  }).answer(async (c) => (await answers()).remove(c, c.req.param('name'))),
]
