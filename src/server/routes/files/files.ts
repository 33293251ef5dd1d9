import { Hono, type Context as HonoContext } from 'hono'
import * as z from 'zod/mini'
import { inText } from '../../../domain/files.ts'
import { toIso } from '../../../domain/instant.ts'
import { type AppEnv, signedIn } from '../../http/app-env.ts'
import { body, text } from '../../http/body.ts'
import { answer } from '../../http/reply.ts'

/** Loaded when needed: every isolate would evaluate them at startup. */
const listing = () => import('../../files/list-files.ts')
const uploading = () => import('../../files/upload.ts')
const downloading = () => import('../../files/download.ts')
const credentials = () => import('../../files/credentials.ts')
const deleting = () => import('../../files/delete.ts')

const pathOf = (c: HonoContext<AppEnv>) => c.req.query('path') ?? ''

export const files = new Hono<AppEnv>()
  .get('/api/v1/files', async (c) => {
    const { listFiles } = await listing()
    const page = { path: pathOf(c), after: c.req.query('after') ?? null }
    return c.json(await listFiles(c.var.ctx, signedIn(c).user.id, page))
  })
  .post('/api/v1/files', body(z.object({ path: text, size: z.number() })), async (c) => {
    const { requestUpload } = await uploading()
    return c.json({ upload: await requestUpload(c.var.ctx, signedIn(c).user.id, c.req.valid('json')) }, 201)
  })
  .get('/api/v1/files/content', async (c) => {
    const { linkToFile } = await downloading()
    return c.redirect(await linkToFile(c.var.ctx, signedIn(c).user.id, pathOf(c)), 302)
  })
  .delete('/api/v1/files', async (c) => {
    const { deleteFiles } = await deleting()
    const { id, undoUntil, ...deleted } = await deleteFiles(c.var.ctx, signedIn(c).user.id, pathOf(c))
    return answer(c, {
      message: `Deleted ${inText(deleted.path)}. You can undo this for 7 days.`,
      deletion: { id, path: deleted.path, undo_until: toIso(undoUntil) },
    })
  })
  .post('/api/v1/files/credentials', body(z.object({ mode: z.enum(['read', 'write']) })), async (c) => {
    const { giveCredentials } = await credentials()
    return c.json({ credentials: await giveCredentials(c.var.ctx, signedIn(c).user.id, c.req.valid('json').mode) }, 201)
  })
