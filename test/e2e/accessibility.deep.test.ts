import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { axeFaults, COLORS, WCAG_AA, WCAG_AAA } from '../../testing/browser/axe.ts'
import { stackAndBrowser } from '../../testing/browser/e2e.ts'
import { openScreen, setLook } from '../../testing/browser/open-screen.ts'
import { SCREENS } from '../../testing/browser/screens.ts'
import { type Cast, gatherCast } from '../../testing/people/cast.ts'
import { keepInstances } from '../../testing/stack/many-instances.ts'

/** A width hides controls and shows others, so axe checks everything at each; in the dark, it checks what colors change. */
const LIGHT = [1280, 768, 360]
const DARK = [1280, 360]
/** The narrowest window WCAG 1.4.10 requires, and the width at which the rail leaves tables the least room. */
const NARROW = [320, 800]
/** For people who set the browser's font size to 32 px: WCAG 1.4.4. */
const LARGE_LETTERS = [360, 768]

let cast: Cast
const world = stackAndBrowser({
  fleetSize: 12,
  plansForSale: true,
  doorDomain: 'door.localhost',
  prepare: (dataDir) => keepInstances(dataDir, 40, Date.now()),
})
beforeAll(async () => {
  cast = await gatherCast(world.stack)
})

describe.each(SCREENS)('$name', (screen) => {
  test('passes axe, never overflows, even with large text, keeps the focus visible, and logs no errors', async () => {
    const { page, complaints } = await openScreen(world.browser, world.url, screen, cast)
    const faults: string[] = []
    for (const width of LIGHT) {
      await setLook(page, 'light', width)
      for (const fault of await axeFaults(page, WCAG_AA)) faults.push(`${width} ${fault}`)
      const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
      if (over > 0) faults.push(`${width} scrolls ${over} px sideways`)
      for (const word of await brokenWords(page)) faults.push(`${width} breaks ${word}`)
      for (const cell of await crowded(page)) faults.push(`${width} has no room for ${cell}`)
    }
    for (const width of DARK) {
      await setLook(page, 'dark', width)
      for (const fault of await axeFaults(page, COLORS)) faults.push(`${width} dark ${fault}`)
    }
    for (const width of [1280, 360]) {
      await setLook(page, 'light', width)
      for (const fault of await focusFaults(page)) faults.push(`${width} ${fault}`)
    }
    for (const width of NARROW) {
      await setLook(page, 'light', width)
      for (const fault of await cutOff(page)) faults.push(`${width} cuts off ${fault}`)
    }
    const devtools = await page.context().newCDPSession(page)
    for (const width of LARGE_LETTERS) {
      await setLook(page, 'light', width)
      await devtools.send('Page.setFontSizes', { fontSizes: { standard: 32, fixed: 26 } })
      expect(await page.evaluate(() => getComputedStyle(document.documentElement).fontSize)).toBe('32px')
      for (const fault of await cutOff(page)) faults.push(`${width} with large letters cuts off ${fault}`)
    }
    expect([...new Set(faults)]).toEqual([])
    expect(complaints).toEqual([])
    await page.context().close()
  })
})

test("with forced colors, the current item, a meter's level, and a state remain visible", async () => {
  const customer = { name: '', path: '/dashboard', as: 'customer' } as const
  const { page } = await openScreen(world.browser, world.url, customer, cast)
  await page.emulateMedia({ forcedColors: 'active' })
  const looks = await page.evaluate(() => {
    const background = (selector: string, pseudo?: string) =>
      getComputedStyle(document.querySelector(selector) as Element, pseudo).backgroundColor
    return {
      current: background('.rail [aria-current]') !== background('.rail a:not([aria-current])'),
      theme: background('.theme [aria-pressed=true]') !== background('.theme [aria-pressed=false]'),
      // No API reports the colors of the bar inside.
      meter: getComputedStyle(document.querySelector('progress') as Element).forcedColorAdjust === 'none',
      state: background('.badge-red', '::before') !== background('.badge-gray', '::before'),
    }
  })
  expect(looks).toEqual({ current: true, theme: true, meter: true, state: true })
  await page.context().close()
})

test.each(['/', '/pricing', '/dashboard', '/console'])(
  'with more contrast requested, every word has 7:1 in both themes: %s',
  async (path) => {
    const { page } = await openScreen(world.browser, world.url, { name: '', path, as: 'admin' }, cast)
    await page.emulateMedia({ contrast: 'more' })
    for (const theme of ['light', 'dark'] as const) {
      await setLook(page, theme, 1280)
      expect(await axeFaults(page, WCAG_AAA)).toEqual([])
    }
    await page.context().close()
  },
)

/** Elements wider than the window, and buttons whose text does not fit. */
function cutOff(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const sideways = document.documentElement.scrollWidth > window.innerWidth ? ['the page overflows sideways'] : []
    const wide = [...document.querySelectorAll('body *:not(svg *)')].filter(
      (element) => element.getBoundingClientRect().right > window.innerWidth + 1,
    )
    // The number at the bell hangs over its corner.
    const words = [...document.querySelectorAll('.btn:not(.bell), body:not(.signed-in *) .menu-button span')].filter(
      ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth,
    )
    const name = (element: Element) => `${element.tagName} "${element.textContent?.slice(0, 40)}"`
    return [...sideways, ...[...wide, ...words].map(name)]
  })
}

/** Short words and numbers in two lines: long ones may break anywhere, so a column can get too narrow for all. */
function brokenWords(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const range = document.createRange()
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const broken: string[] = []
    for (let text = texts.nextNode() as Text | null; text; text = texts.nextNode() as Text | null) {
      if (!text.parentElement?.checkVisibility() || text.parentElement.closest('.visually-hidden, pre')) continue
      const isId = innerWidth >= 768 && text.parentElement.matches('th a code')
      // They may break after these signs, and an address may break anywhere.
      for (const { 0: word, index } of text.data.matchAll(isId ? /\S+/g : /(?<!\S)[^\s/@–—-]{1,16}(?!\S)/g)) {
        range.setStart(text, index)
        range.setEnd(text, index + word.length)
        const tops = [...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => Math.round(top))
        if (new Set(tops).size > 1 && !text.parentElement.closest('.address')) broken.push(word)
      }
    }
    return broken
  })
}

/** Cells whose text runs into the one beside them. */
function crowded(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('.table:not(.table-fixed) :is(th, td)')]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
      .map((cell) => `"${cell.textContent}"`),
  )
}

/** Tabs through the page: every stop must show its focus and stay clear of the bars fixed at the edges. */
async function focusFaults(page: Page): Promise<string[]> {
  const faults: string[] = []
  await page.evaluate(() => {
    window.scrollTo(0, 0)
    document.body.tabIndex = -1
    document.body.focus()
    document.body.removeAttribute('tabindex')
  })
  for (let stop = 0; stop < 60; stop++) {
    await page.keyboard.press('Tab')
    const fault = await page.evaluate(() => {
      const element = document.activeElement
      if (!element || element === document.body) return 'end'
      if (element.hasAttribute('data-walked')) return 'end'
      element.setAttribute('data-walked', '')
      const name = `${element.tagName.toLowerCase()} "${(element.textContent || element.getAttribute('aria-label') || element.id).slice(0, 40)}"`
      const style = getComputedStyle(element)
      if (style.outlineStyle === 'none' || Number.parseFloat(style.outlineWidth) < 2)
        return `${name} does not show its focus`
      const box = element.getClientRects()[0]
      if (!box) return `${name} has focus but is not rendered`
      // WCAG 2.4.11 requires "not entirely hidden", so we probe the middle of the part inside the window. A menu that
      // Esc closes may cover it.
      const middle = (from: number, to: number, end: number) => (Math.max(0, from) + Math.min(to, end)) / 2
      const x = middle(box.left, box.right, window.innerWidth)
      const y = middle(box.top, box.bottom, window.innerHeight)
      const top = document.elementFromPoint(x, y)
      if (top?.closest(':popover-open')) return null
      const isSeen = top && (element.contains(top) || top.contains(element) || top.closest('label')?.contains(element))
      return isSeen ? null : `${name} has focus behind ${top?.tagName ?? 'nothing'}.${top?.className ?? ''}`
    })
    if (fault === 'end') break
    if (fault) faults.push(fault)
  }
  await page.evaluate(() => {
    for (const element of document.querySelectorAll('[data-walked]')) element.removeAttribute('data-walked')
  })
  return faults
}
