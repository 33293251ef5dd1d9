import { Hono, type Context as HonoContext } from 'hono'
import * as z from 'zod/mini'
import { inText } from '../../../domain/file-names.ts'
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
  .get('/api/v1/files/size', async (c) => {
    const { sizeUpFolder } = await deleting()
    return c.json(await sizeUpFolder(c.var.ctx, signedIn(c).user.id, pathOf(c)))
  })
  .delete('/api/v1/files', async (c) => {
    const { deleteFiles } = await deleting()
    const { path, filesLeft } = await deleteFiles(c.var.ctx, signedIn(c).user.id, {
      path: pathOf(c),
      onlyFile: c.req.query('only') === 'file',
    })
    const message = filesLeft
      ? `Deleting ${inText(path)}. It takes a few minutes until all of its files are gone.`
      : `Deleted ${inText(path)}.`
    return answer(c, { message, path, files_left: filesLeft }, { status: filesLeft ? 202 : 200 })
  })
  .post('/api/v1/files/credentials', body(z.object({ mode: z.enum(['read', 'write']) })), async (c) => {
    const { giveCredentials } = await credentials()
    return c.json({ credentials: await giveCredentials(c.var.ctx, signedIn(c).user.id, c.req.valid('json').mode) }, 201)
  })
