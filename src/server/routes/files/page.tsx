import type { Context as HonoContext } from 'hono'
import { nameOf } from '../../../domain/files.ts'
import type { FileList } from '../../../domain/wire.ts'
import { FilesPage } from '../../../pages/Files.tsx'
import { serversKeepFiles } from '../../context.ts'
import { listFiles } from '../../files/list-files.ts'
import { filesModeOf } from '../../files/mode.ts'
import { listUnfinished } from '../../files/parts.ts'
import { listDeletions } from '../../files/undo.ts'
import { type AppEnv, signedIn } from '../../http/app-env.ts'
import { takeFlash } from '../../http/flash.ts'
import { csrfToken } from '../../http/middleware/csrf.ts'
import { renderPage } from '../../http/render.tsx'

/** As many as the page shows at once. */
const ROWS_AT_FIRST = 100

/** Loaded when needed: see pages.tsx. */
export async function show(c: HonoContext<AppEnv>): Promise<Response> {
  const { ctx } = c.var
  const userId = signedIn(c).user.id
  const after = c.req.query('after') ?? null
  const [list, deletions, unfinished, { why }] = await Promise.all([
    listFiles(ctx, userId, { path: c.req.query('path') ?? '', after, most: ROWS_AT_FIRST }),
    listDeletions(ctx, userId),
    listUnfinished(ctx, userId),
    filesModeOf(ctx, userId),
  ])
  // Script and images may reach the bucket from here, and only from here.
  if (ctx.config.files) c.set('filesOrigin', new URL(ctx.config.files.endpoint).origin)
  return renderPage(
    c,
    { title: list.path === '' ? 'Files' : nameOf(list.path), assets: 'files' },
    <FilesPage
      list={list}
      after={after}
      deletions={deletions}
      unfinished={unfinished}
      noPlan={why === 'full' ? null : why}
      filesStay={serversKeepFiles(ctx)}
      question={questionOf(c, list)}
      csrfToken={csrfToken(c)}
      flash={takeFlash(c)}
    />,
  )
}

/** What a button without script wants to do, if that file is still there. */
function questionOf(c: HonoContext<AppEnv>, { folders, files }: FileList): Parameters<typeof FilesPage>[0]['question'] {
  for (const act of ['delete', 'rename'] as const) {
    const name = c.req.query(act)
    if (name && [...folders, ...files].some((entry) => entry.name === name)) return { act, name }
  }
  return null
}
