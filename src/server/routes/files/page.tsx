import type { Context as HonoContext } from 'hono'
import { nameOf, toFolder } from '../../../domain/file-names.ts'
import type { FileList } from '../../../domain/wire/files.ts'
import { FilesPage } from '../../../pages/Files.tsx'
import { listFiles } from '../../files/list-files.ts'
import { listUnfinished } from '../../files/parts.ts'
import { getRights } from '../../files/usage.ts'
import { type AppEnv, signedIn } from '../../http/app-env.ts'
import { takeFlash } from '../../http/flash.ts'
import { csrfToken } from '../../http/middleware/csrf.ts'
import { renderPage } from '../../http/render.tsx'
import { serversKeepFiles } from '../../runtime/context.ts'

/** As many as the page shows at once. */
const ROWS_AT_FIRST = 100

/** Loaded when needed: see files.ts. */
export async function show(c: HonoContext<AppEnv>): Promise<Response> {
  const { ctx } = c.var
  const userId = signedIn(c).user.id
  const after = c.req.query('after') ?? null
  const [list, unfinished, { readOnly }] = await Promise.all([
    listFiles(ctx, userId, { path: c.req.query('path') ?? '', after, most: ROWS_AT_FIRST }),
    listUnfinished(ctx, userId),
    getRights(ctx, userId),
  ])
  const question = await questionOf(c, list)
  // Script and images may reach the bucket from here, and only from here.
  if (ctx.config.files) c.set('filesOrigin', new URL(ctx.config.files.endpoint).origin)
  return renderPage(
    c,
    { title: list.path === '' ? 'Files' : nameOf(list.path), assets: 'files' },
    <FilesPage
      list={list}
      after={after}
      unfinished={unfinished}
      readOnly={readOnly}
      filesStay={serversKeepFiles(ctx)}
      question={question}
      csrfToken={csrfToken(c)}
      flash={takeFlash(c)}
    />,
  )
}

/** The file or folder that a link without script is about to delete, if it still exists, and what it contains. */
async function questionOf(
  c: HonoContext<AppEnv>,
  { folders, files, path }: FileList,
): Promise<Parameters<typeof FilesPage>[0]['question']> {
  const asked = c.req.query('delete')
  if (asked === undefined) return null
  const here = toFolder(path)
  if (files.some(({ name }) => name === asked)) return { path: here + asked, folder: here, size: null }
  if (!folders.some(({ name }) => `${name}/` === asked)) return null
  const { sizeUpFolder } = await import('../../files/delete.ts')
  return { path: here + asked, folder: here, size: await sizeUpFolder(c.var.ctx, signedIn(c).user.id, here + asked) }
}
