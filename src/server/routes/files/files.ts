import * as z from 'zod/mini'
import * as shape from '../../../domain/wire.ts'
import { mayOperate } from '../../http/bearer.ts'
import { text } from '../../http/fields.ts'
import { route } from '../../http/route.ts'

/** Loaded when needed: every isolate would evaluate them at startup. */
const answers = () => import('./answers.ts')

/** Back to the folder they were in. */
const BY_FILES = { at: '/files', done: '/files', back: true } as const

const wanted = z.object({ path: text, size: z.number() })
const wantedInParts = z.object({ path: text, size: z.number(), version: z.string().check(z.maxLength(100)) })

export const files = [
  route('GET /files', { access: 'user', kind: 'page', ahead: 'press' }).answer(async (c) =>
    (await import('./page.tsx')).show(c),
  ),
  route('POST /files', { access: 'user', takesFile: true, form: BY_FILES }).answer(async (c) =>
    (await answers()).uploadForm(c),
  ),
  route('GET /api/v1/files', {
    access: 'user',
    scope: 'read',
    summary: 'List a folder of your files',
    answers: [200, shape.fileList],
    refuses: ['not_found', 'invalid'],
    query: { path: 'A folder; without it, all of yours', after: 'The `next` of the page before' },
  }).answer(async (c) => (await answers()).list(c)),
  route('POST /api/v1/files', {
    access: 'user',
    scope: 'operate',
    takes: wanted,
    summary: 'Request a link to upload a file',
    answers: [201, z.object({ upload: shape.fileUpload })],
    refuses: ['no_plan', 'plan_unpaid', 'suspended', 'held', 'not_found', 'conflict', 'invalid'],
  }).answer(async (c) => (await answers()).upload(c, c.req.valid('json'))),
  route('DELETE /api/v1/files', {
    access: 'user',
    scope: 'operate',
    form: BY_FILES,
    summary: 'Delete a file, or a folder with everything in it, for good',
    answers: [200, z.extend(shape.message, { path: z.string(), files_left: z.int() })],
    later: 202,
    refuses: ['not_found', 'invalid'],
    query: {
      path: 'A file, or a folder, whose path ends in a slash',
      only: {
        description: '`file`: a file whose name ends in a slash, not the folder',
        schema: { type: 'string', enum: ['file'] },
      },
    },
  }).answer(async (c) => (await answers()).remove(c)),
  route('GET /api/v1/files/content', { access: 'user', scope: 'read' }).answer(async (c) => (await answers()).link(c)),
  route('GET /api/v1/files/size', {
    access: 'user',
    scope: 'read',
    summary: 'Count what is in a folder, up to 8,000 files',
    answers: [200, shape.folderSize],
    refuses: ['not_found', 'invalid'],
    query: { path: 'A folder; its path ends in a slash' },
  }).answer(async (c) => (await answers()).size(c)),
  // To write, its handler asks for more.
  route('POST /api/v1/files/credentials', {
    access: 'user',
    scope: 'read',
    takes: z.object({ mode: z.enum(['read', 'write']) }),
    summary: 'Request credentials for your files, for 15 minutes or longer',
    answers: [201, z.object({ credentials: shape.filesAccess })],
    refuses: ['not_found', 'conflict'],
  }).answer(async (c) => {
    const { mode } = c.req.valid('json')
    if (mode === 'write') mayOperate(c)
    return (await answers()).credentials(c, mode)
  }),
  route('GET /api/v1/files/uploads', {
    access: 'user',
    scope: 'read',
    summary: 'List uploads in parts that can continue',
    answers: [200, z.object({ uploads: z.array(shape.unfinishedUpload) })],
    refuses: ['not_found'],
  }).answer(async (c) => (await answers()).uploads(c)),
  route('POST /api/v1/files/uploads', {
    access: 'user',
    scope: 'operate',
    takes: wantedInParts,
    summary: 'Begin an upload in parts, or continue it',
    answers: [200, z.object({ upload: shape.partsUpload })],
    refuses: ['no_plan', 'plan_unpaid', 'suspended', 'held', 'not_found', 'conflict', 'invalid'],
  }).answer(async (c) => (await answers()).begin(c, c.req.valid('json'))),
  route('POST /api/v1/files/uploads/:id/parts', {
    access: 'user',
    scope: 'operate',
    takes: z.object({ parts: z.array(z.number()) }),
    summary: 'Request links to upload parts',
    answers: [200, shape.partLinks],
    refuses: ['no_plan', 'plan_unpaid', 'suspended', 'held', 'not_found', 'invalid'],
  }).answer(async (c) => (await answers()).parts(c, c.req.valid('json').parts)),
  route('POST /api/v1/files/uploads/:id/complete', {
    access: 'user',
    scope: 'operate',
    summary: 'Make the file of its parts',
    answers: [200, z.extend(shape.message, { file: z.object({ path: z.string(), size: z.number() }) })],
    refuses: ['no_plan', 'plan_unpaid', 'suspended', 'held', 'not_found', 'conflict', 'invalid'],
  }).answer(async (c) => (await answers()).complete(c)),
  route('DELETE /api/v1/files/uploads/:id', {
    access: 'user',
    scope: 'operate',
    form: BY_FILES,
    summary: 'Discard an unfinished upload',
    answers: [200, shape.message],
    refuses: ['not_found'],
  }).answer(async (c) => (await answers()).discard(c)),
  route('POST /api/v1/files/moves', { access: 'user', scope: 'operate' }).answer(async () =>
    (await answers()).gone('moves'),
  ),
  route('POST /api/v1/files/folders', { access: 'user', scope: 'operate' }).answer(async () =>
    (await answers()).gone('folders'),
  ),
  route('GET /api/v1/files/deletions', { access: 'user', scope: 'read' }).answer(async () =>
    (await answers()).gone('deletions'),
  ),
  route('POST /api/v1/files/deletions/:id/undo', { access: 'user', scope: 'operate' }).answer(async () =>
    (await answers()).gone('undo'),
  ),
]
