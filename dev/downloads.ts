import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { serveStatic } from '@hono/node-server/serve-static'
import { Hono } from 'hono'
import { withOwnSite } from '../src/server/http/own-site.ts'
import { DIST } from './stack.ts'

const CLIENT = join(DIST, 'client')

/**
 * The files below /cli/ for `npm run dev`: the command line, its package, and the GitHub Action. They are built files,
 * so a fresh clone builds them when you first download one. `npm run build` renews them.
 */
export function downloads() {
  let building: Promise<unknown> | undefined
  const app = new Hono()
  app.use('/cli/*', async (c, next) => {
    if (!existsSync(join(CLIENT, 'cli/proving-ground.tgz'))) {
      // Vite sets development for this process.
      const env = { ...process.env, NODE_ENV: 'production' }
      building ??= promisify(execFile)('npm', ['run', '-s', 'build'], { env, shell: process.platform === 'win32' })
      try {
        await building
      } catch (error) {
        building = undefined
        return c.text(`npm run build failed:\n${String(error)}`, 500)
      }
    }
    await next()
  })
  // Wait until it's built: Hono immediately complains about a folder that doesn't exist.
  let files: ReturnType<typeof serveStatic> | undefined
  app.use('/cli/*', async (c, next) => {
    files ??= serveStatic({ root: CLIENT })
    const file = await files(c, next)
    const [, kind] = /proving-ground\.(mjs|tgz)$/.exec(c.req.path) ?? []
    return file && kind ? withOwnSite(file, kind === 'tgz', new URL(c.req.url).origin) : file
  })
  return app
}
