import { Hono } from 'hono'
import * as z from 'zod/mini'
import { AppError } from '../../../domain/error.ts'
import { inText } from '../../../domain/file-names.ts'
import { type AppEnv, signedIn } from '../../http/app-env.ts'
import { body, text } from '../../http/body.ts'
import { answer } from '../../http/reply.ts'

/** Loaded when needed: every isolate would evaluate them at startup. */
const parts = () => import('../../files/parts.ts')

/** For one release. */
const gone = (sentence: string) => () => {
  throw new AppError('gone', sentence)
}
const NO_UNDO = 'Deleted files are gone for good. This can no longer be undone.'

const wanted = z.object({ path: text, size: z.number(), version: z.string().check(z.maxLength(100)) })

/** Uploads in parts, and calls that there were once. */
export const fileChanges = new Hono<AppEnv>()
  .get('/api/v1/files/uploads', async (c) => {
    const { listUnfinished } = await parts()
    return c.json({ uploads: await listUnfinished(c.var.ctx, signedIn(c).user.id) })
  })
  .post('/api/v1/files/uploads', body(wanted), async (c) => {
    const { beginParts } = await parts()
    return c.json({ upload: await beginParts(c.var.ctx, signedIn(c).user.id, c.req.valid('json')) })
  })
  .post('/api/v1/files/uploads/:id/parts', body(z.object({ parts: z.array(z.number()) })), async (c) => {
    const { signParts } = await parts()
    return c.json(await signParts(c.var.ctx, signedIn(c).user.id, c.req.param('id'), c.req.valid('json').parts))
  })
  .post('/api/v1/files/uploads/:id/complete', async (c) => {
    const { completeParts } = await parts()
    const file = await completeParts(c.var.ctx, signedIn(c).user.id, c.req.param('id'))
    return c.json({ message: `Uploaded ${inText(file.path)}.`, file })
  })
  .delete('/api/v1/files/uploads/:id', async (c) => {
    const { abortParts } = await parts()
    const { path } = await abortParts(c.var.ctx, signedIn(c).user.id, c.req.param('id'))
    return answer(c, { message: `Discarded the unfinished upload of ${inText(path)}.` })
  })
  .post(
    '/api/v1/files/moves',
    gone("A bucket can't rename. Rename or move files in /data on a server, or with rclone."),
  )
  .post('/api/v1/files/folders', gone('A folder is there once a file is in it. Upload a file into it.'))
  .get('/api/v1/files/deletions', gone(NO_UNDO))
  .post('/api/v1/files/deletions/:id/undo', gone(NO_UNDO))
