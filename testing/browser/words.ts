import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Cast, gatherCast, type Role } from '../people/cast.ts'
import { stackAndBrowser } from './e2e.ts'

type AriaRole = Parameters<Page['getByRole']>[0]

/**
 * One text of the specification: its section; the role whose name it is, or `label` (of a field), `title` (of the
 * document), `message` (in an alert, a status, or the dashboard's messages), `text` (anything readable), `gone`
 * (absent); the text; and how it must appear.
 */
export type Word = [
  section: number,
  as: AriaRole | 'label' | 'title' | 'message' | 'text' | 'gone',
  text: string,
  how?: {
    disabled?: boolean
    readOnly?: boolean
    href?: RegExp
    /** What is read out after the name. */
    description?: string
    /** The badge's color. */
    color?: string
    /** How often it appears; by default, at least once. */
    count?: number
    note?: string
  },
]

/** How to reach some of the words. */
export type Scene = {
  at: string
  as?: Role
  /** Without scripts, the browser's own forms do the work. */
  withoutScripts?: boolean
  open: (page: Page, world: { url: string; cast: Cast; go: (path: string) => Promise<unknown> }) => Promise<unknown>
  words: Word[]
}

/** Opens every scene in its own window and looks for its words, one test each. */
export function walk(
  scenes: Scene[],
  prepare?: (databaseUrl: string, userId: (role: Role) => string) => Promise<unknown>,
): void {
  const world = stackAndBrowser({ fleetSize: 12 })
  let cast: Cast
  beforeAll(async () => {
    cast = await gatherCast(world.stack)
    await prepare?.(world.stack.services.vars.LIBSQL_URL as string, cast.userId)
  })
  describe.each(scenes)('$at', ({ as, withoutScripts = false, open, words }) => {
    let page: Page
    beforeAll(async () => {
      const context = await world.browser.newContext({ javaScriptEnabled: !withoutScripts, reducedMotion: 'reduce' })
      if (as) {
        const [name = '', value = ''] = cast.cookie(as).split('=')
        await context.addCookies([{ name, value, url: world.url }])
      }
      page = await context.newPage()
      await open(page, { url: world.url, cast, go: (path) => page.goto(world.url + path) })
    })
    afterAll(() => page?.context().close())
    test.each(words)('section %i, %s: %s', async (...word) => {
      await find(page, word)
    })
  })
}

async function find(page: Page, [, as, text, how = {}]: Word): Promise<void> {
  if (as === 'title') return expect.poll(() => page.title()).toContain(text)
  if (as === 'gone') return place(page, 'text', text, how).first().waitFor({ state: 'detached' })
  const all = place(page, as, text, how)
  const found = all.first()
  await found.waitFor({ state: as === 'option' ? 'attached' : 'visible' })
  if (how.disabled !== undefined) expect(await found.isDisabled(), 'disabled').toBe(how.disabled)
  if (how.count) expect(await all.count()).toBe(how.count)
  if (how.readOnly) expect(await found.isEditable()).toBe(false)
  if (how.href) expect(await found.getAttribute('href')).toMatch(how.href)
  if (how.color) expect(await found.getAttribute('class')).toContain(`badge-${how.color}`)
}

function place(page: Page, as: Word[1], text: string, { description, color }: NonNullable<Word[3]>): Locator {
  const whole = new RegExp(text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'))
  if (color) return page.locator('.badge').filter({ hasText: new RegExp(`^${whole.source}$`) })
  // A term has no accessible name, so we match its text.
  if (as === 'term') return page.getByRole('term').filter({ hasText: whole })
  if (as === 'label') return page.getByLabel(text, { exact: true })
  if (as === 'text' || as === 'title' || as === 'gone') return page.locator('body').getByText(whole)
  if (as === 'message')
    return page.locator('[role=alert], [role=status], [aria-live=polite]').filter({ hasText: whole })
  return page.getByRole(as, { name: text, exact: true, ...(description ? { description } : {}) })
}

/** Fakes the server's answer to a call. */
export function answer(page: Page, path: string, status: number, json?: unknown): Promise<unknown> {
  return page.route(`**${path}`, (route) =>
    json === undefined
      ? route.fulfill({ status, contentType: 'text/html', body: '<h1>No JSON</h1>' })
      : route.fulfill({ status, json }),
  )
}

/** Makes the network fail for a call. */
export function cut(page: Page, path: string): Promise<unknown> {
  return page.route(`**${path}`, (route) => route.abort())
}

/** Makes a call never end. */
export function hold(page: Page, path: string): Promise<unknown> {
  return page.route(`**${path}`, () => {})
}

export const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
