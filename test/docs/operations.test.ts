import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'

const operations = readFileSync(resolve(import.meta.dirname, '../../docs/operations.md'), 'utf8')

test('its parts link to each other', () => {
  const anchors = [...operations.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replace(/\s/g, '-'),
  )
  const links = [...operations.matchAll(/\]\(#([\w-]+)\)/g)].map(([, anchor]) => anchor)
  expect(links.length).toBeGreaterThan(10)
  expect(links.filter((anchor) => !anchors.includes(anchor as string))).toEqual([])
})
