import { Hono } from 'hono'
import { AppError } from '../../../domain/error.ts'
import { inText, toFolder } from '../../../domain/file-names.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { signedIn } from '../../http/app-env.ts'
import { answer } from '../../http/reply.ts'

/** The page of someone's files, and its form for browsers without script. */
export const filePages = new Hono<AppEnv>()
  .get('/files', async (c) => (await import('./page.tsx')).show(c))
  .post('/files', async (c) => {
    const { uploadThrough } = await import('../../files/upload-through.ts')
    const file = c.get('file')
    if (!file?.name) throw new AppError('invalid', 'Choose a file first.')
    const { path } = await uploadThrough(c.var.ctx, signedIn(c).user.id, {
      path: toFolder(c.req.query('path') ?? '') + file.name,
      content: await file.arrayBuffer(),
    })
    return answer(c, { message: `Uploaded ${inText(path)}.`, path }, { status: 201 })
  })
