import { expect, test } from 'vitest'
import { composeMail } from '../../src/server/mail/letter.ts'
import { ownBrowser, PHONE } from '../../testing/browser/e2e.ts'

const browser = await ownBrowser()
const LONG = `https://example.com/${'a'.repeat(300)}`

test('a long word in an email wraps on a phone, wherever it is', async () => {
  const page = await browser.newPage(PHONE)
  for (const parts of [
    [LONG],
    [{ typed: LONG }],
    [{ label: LONG, link: LONG }],
    ['x', { label: 'Open', link: LONG }],
  ]) {
    await page.setContent(composeMail(LONG, parts, LONG).html)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  }
})
