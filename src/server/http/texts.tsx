import type { Context as HonoContext } from 'hono'
import type { ReactNode } from 'react'
import type { ORIGIN } from '../../pages/docs/values.ts'
import type { TextName } from '../../pages/texts.tsx'
import { siteOrigin } from '../runtime/context.ts'
import type { AppEnv } from './app-env.ts'

const ORIGIN_IN_FILES: typeof ORIGIN = 'https://origin.invalid'

/** A text-only page, from the file that the build rendered. */
export async function findText(c: HonoContext<AppEnv>, name: TextName): Promise<ReactNode> {
  return <div dangerouslySetInnerHTML={{ __html: await readText(c, name) }} />
}

/** What the build wrote, with this site's own address. */
export async function readText(c: HonoContext<AppEnv>, name: TextName): Promise<string> {
  const origin = siteOrigin(c.var.ctx)
  const file = await c.env.ASSETS.fetch(`${origin}/texts/${name}.txt`)
  if (!file.ok) throw new Error(`The build has no text ${name}: ${file.status}`)
  return (await file.text()).replaceAll(ORIGIN_IN_FILES, origin)
}
