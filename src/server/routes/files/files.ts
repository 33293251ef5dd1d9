import * as z from 'zod/mini'
import { message } from '../../../domain/wire/answers.ts'
import * as shape from '../../../domain/wire/files.ts'
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
    description: [
      'Up to 1,000 names of one folder, or with `path` empty, of all your files ([names](#names-of-files)).',
      '`deleting` lists the folders we are deleting; we list nothing below them, and at least `files_left` files are left.',
      '`next`, if not null, is the `after` of the next page.',
      '`on_servers` says which servers have these files at `/data`: `all`, those that run `until_exit`, or `none`.',
      '`limit_bytes` null: unlimited.',
      'We counted `used_bytes` in the bucket at `counted_at`.',
    ],
    answers: [200, shape.fileList],
    refuses: ['not_found', 'invalid', 'unavailable'],
    query: { path: 'A folder; without it, all of yours', after: 'The `next` of the page before' },
  }).answer(async (c) => (await answers()).list(c)),
  route('POST /api/v1/files', {
    access: 'user',
    scope: 'operate',
    takes: wanted,
    summary: 'Request a link to upload a file',
    description: [
      'Send the file there, with exactly these headers and `size` bytes.',
      'The link works once, before `expires_at`.',
      'It replaces a file with the same path.',
    ],
    answers: [201, z.object({ upload: shape.fileUpload })],
    refuses: ['no_plan', 'plan_unpaid', 'suspended', 'held', 'not_found', 'conflict', 'invalid'],
    when: {
      422: 'an impossible path, a file where a folder is or inside another file, or too large for your plan with what is stored and [open](#open-uploads)',
      429: '100 uploads are open',
    },
  }).answer(async (c) => (await answers()).upload(c, c.req.valid('json'))),
  route('DELETE /api/v1/files', {
    access: 'user',
    scope: 'operate',
    form: BY_FILES,
    summary: 'Delete a file, or a folder with everything in it, for good',
    description: [
      "If `path` ends in a slash, it is a folder. You [can't undo this](#deleting-folders).",
      "202: we delete the folder's files within minutes, and at least `files_left` are left.",
      '`only=file` deletes a file whose name ends in a slash.',
    ],
    answers: [200, z.extend(message, { path: z.string(), files_left: z.int() })],
    later: 202,
    refuses: ['not_found', 'invalid', 'provider_failed', 'unavailable'],
    when: { 429: "we're already deleting 100 of your folders", 502: 'the bucket still has it' },
    query: {
      path: 'A file, or a folder, whose path ends in a slash',
      only: {
        description: '`file`: a file whose name ends in a slash, not the folder',
        schema: { type: 'string', enum: ['file'] },
      },
    },
  }).answer(async (c) => (await answers()).remove(c)),
  route('GET /api/v1/files/content', {
    access: 'user',
    scope: 'read',
    description: ['302 to a link that works for 60 seconds.', 'It downloads from the bucket, not from this site.'],
    query: { path: 'A file', person: 'Your `id`, if someone else may have signed in' },
    refuses: ['not_found', 'other_person', 'unavailable'],
    when: {
      409: 'someone other than `person` is signed in',
      422: "a link can't lead to it, and the sentence names the command that fetches it",
      429: '10,000 in 15 minutes',
    },
  }).answer(async (c) => (await answers()).link(c)),
  route('GET /api/v1/files/size', {
    access: 'user',
    scope: 'read',
    summary: 'Count what is in a folder, up to 8,000 files',
    description: 'If there are more, `complete` is false.',
    answers: [200, shape.folderSize],
    refuses: ['not_found', 'invalid', 'unavailable'],
    query: { path: 'A folder; its path ends in a slash' },
  }).answer(async (c) => (await answers()).size(c)),
  // To write, its handler asks for more.
  route('POST /api/v1/files/credentials', {
    access: 'user',
    scope: 'read',
    takes: z.object({ mode: z.enum(['read', 'write']) }),
    summary: 'Request credentials for your files, for 15 minutes or longer',
    description: [
      'For any S3 program, for keys that begin with `prefix`.',
      '`mode` is `read` or `write`.',
      'They last an hour or a little longer, or 15 to 30 minutes to write where your plan has a limit.',
      'Within a quarter hour, you get the same ones again.',
      'A token that may only read gets `read`.',
    ],
    answers: [201, z.object({ credentials: shape.filesAccess })],
    refuses: ['not_found', 'conflict', 'unavailable'],
    when: { 409: 'your files are read-only now', 429: '60 in 15 minutes' },
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
    description: [
      'For files that must survive a broken connection.',
      'Send `parts` parts: each has `part_size` bytes, and the last one the rest.',
      'Choose any `version` of up to 100 characters: with the same `path`, `size`, and `version`, the call continues the upload, and `done` lists the parts that arrived.',
      'It stays open for 7 days.',
    ],
    answers: [200, z.object({ upload: shape.partsUpload })],
    refuses: ['no_plan', 'plan_unpaid', 'suspended', 'held', 'not_found', 'conflict', 'invalid'],
    when: { 429: '100 uploads are open' },
  }).answer(async (c) => (await answers()).begin(c, c.req.valid('json'))),
  route('POST /api/v1/files/uploads/:id/parts', {
    access: 'user',
    scope: 'operate',
    takes: z.object({ parts: z.array(z.number()) }),
    summary: 'Request links to upload parts',
    description: ['Up to 100 at once, each for exactly `size` bytes.', 'You may send a part again.'],
    answers: [200, shape.partLinks],
    refuses: ['no_plan', 'plan_unpaid', 'suspended', 'held', 'not_found', 'invalid'],
    when: { 402: 'the plan has ended or is unpaid', 422: 'also when it no longer fits your plan' },
  }).answer(async (c) => (await answers()).parts(c, c.req.valid('json').parts)),
  route('POST /api/v1/files/uploads/:id/complete', {
    access: 'user',
    scope: 'operate',
    summary: 'Make the file of its parts',
    description: 'Safe to repeat.',
    answers: [200, z.extend(message, { file: z.object({ path: z.string(), size: z.number() }) })],
    refuses: ['no_plan', 'plan_unpaid', 'suspended', 'held', 'not_found', 'conflict', 'invalid'],
    when: {
      402: 'the plan has ended or is unpaid',
      404: "the upload has ended, and we don't know that it became the file",
      409: '`conflict`: since the upload began, someone wrote another file to this path or deleted the one there. The later change stays, and the upload has ended',
      422: 'parts are missing, or it no longer fits your plan',
    },
  }).answer(async (c) => (await answers()).complete(c)),
  route('DELETE /api/v1/files/uploads/:id', {
    access: 'user',
    scope: 'operate',
    form: BY_FILES,
    summary: 'Discard an unfinished upload',
    answers: [200, message],
    refuses: ['not_found'],
  }).answer(async (c) => (await answers()).discard(c)),
  route('POST /api/v1/files/moves', {
    access: 'user',
    scope: 'operate',
    description: ["Removed: buckets can't rename.", 'Rename in `/data` on a server, or with rclone.'],
    when: { 410: 'for one release' },
  }).answer(async () => (await answers()).gone('moves')),
  route('POST /api/v1/files/folders', {
    access: 'user',
    scope: 'operate',
    description: 'Removed: a folder is there once a file is in it.',
    when: { 410: 'for one release' },
  }).answer(async () => (await answers()).gone('folders')),
  route('GET /api/v1/files/deletions', {
    access: 'user',
    scope: 'read',
    description: 'Removed: deleted files are gone for good.',
    when: { 410: 'for one release' },
  }).answer(async () => (await answers()).gone('deletions')),
  route('POST /api/v1/files/deletions/:id/undo', {
    access: 'user',
    scope: 'operate',
    description: 'Removed: deleted files are gone for good.',
    when: { 410: 'for one release' },
  }).answer(async () => (await answers()).gone('undo')),
]
