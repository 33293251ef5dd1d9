import type { Context as HonoContext } from 'hono'
import type { ReactNode } from 'react'
import type { ORIGIN, TextName } from '../../pages/texts.tsx'
import { siteOrigin } from '../runtime/context.ts'
import type { AppEnv } from './app-env.ts'

const ORIGIN_IN_FILES: typeof ORIGIN = 'https://origin.invalid'

/** A text-only page, from the file that the build rendered. */
export async function findText(c: HonoContext<AppEnv>, name: TextName): Promise<ReactNode> {
  const origin = siteOrigin(c.var.ctx)
  const html = import.meta.env.DEV ? await renderNow(name) : await readFile(c, `${origin}/texts/${name}.txt`)
  return <div dangerouslySetInnerHTML={{ __html: html.replaceAll(ORIGIN_IN_FILES, origin) }} />
}

async function readFile(c: HonoContext<AppEnv>, address: string): Promise<string> {
  const file = await c.env.ASSETS.fetch(address)
  if (!file.ok) throw new Error(`The build has no ${address}: ${file.status}`)
  return file.text()
}

/** Without a build there are no files. */
async function renderNow(name: TextName): Promise<string> {
  const { renderTexts } = await import('../../pages/texts.tsx')
  return renderTexts().find(([one]) => one === name)?.[1] ?? ''
}
