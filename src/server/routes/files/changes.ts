import { Hono, type Context as HonoContext } from 'hono'
import * as z from 'zod/mini'
import { inText } from '../../../domain/files.ts'
import { type AppEnv, signedIn } from '../../http/app-env.ts'
import { body, text } from '../../http/body.ts'
import { answer } from '../../http/reply.ts'

/** Loaded when needed: every isolate would evaluate them at startup. */
const parts = () => import('../../files/parts.ts')
const undoing = () => import('../../files/undo.ts')
const changing = () => import('../../files/change.ts')

const wanted = z.object({ path: text, size: z.number(), version: z.string().check(z.maxLength(100)) })

/** New folders, new names, deletions taken back, and uploads in parts. */
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
  .get('/api/v1/files/deletions', async (c) => {
    const { listDeletions } = await undoing()
    return c.json({ deletions: await listDeletions(c.var.ctx, signedIn(c).user.id) })
  })
  .post('/api/v1/files/deletions/:id/undo', async (c) => {
    const { undoDeletion } = await undoing()
    const { path, isDone } = await undoDeletion(c.var.ctx, signedIn(c).user.id, c.req.param('id'))
    const message = isDone
      ? `Restored ${inText(path)}.`
      : `Restoring ${inText(path)}. Its files appear there within a few minutes.`
    return answer(c, { message, path, done: isDone })
  })
  .post('/api/v1/files/folders', body(z.object({ path: text })), async (c) => {
    const { makeFolder } = await changing()
    const { path } = await makeFolder(c.var.ctx, signedIn(c).user.id, inFolder(c, c.req.valid('json').path))
    return answer(c, { message: `Created ${inText(path)}.`, path }, { status: 201 })
  })
  .post('/api/v1/files/moves', body(z.object({ path: text, to: text })), async (c) => {
    const { renameFiles } = await changing()
    const { path: from, to: name } = c.req.valid('json')
    const input = { path: from, to: inFolder(c, name) }
    const { path, to, isDone } = await renameFiles(c.var.ctx, signedIn(c).user.id, input)
    const message = isDone
      ? `Renamed ${inText(path)} to ${inText(to)}.`
      : `Renaming ${inText(path)} to ${inText(to)}. Its files appear there within a few minutes.`
    return answer(c, { message, path: to, done: isDone })
  })

/** A plain form sends a name, and its folder in the query. */
function inFolder(c: HonoContext<AppEnv>, name: string): string {
  const folder = c.req.query('in')
  return folder && name ? `${folder}/${name}` : name
}
