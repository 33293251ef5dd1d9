import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { deleteWords, PlainForms } from '../../../src/islands/files/PlainForms.tsx'

const html = (path: string, size: Parameters<typeof deleteWords>[0] = null) =>
  renderToStaticMarkup(<PlainForms question={{ path, folder: 'runs/', size }} csrfToken="t" />)

test('without script, the question to delete keeps its words in order, and its path every character', () => {
  expect(html('runs/رحلة 1.csv')).toContain('\u2068رحلة 1.csv\u2069')
  expect(html('runs/flight 1.csv')).not.toContain('\u2068')
  expect(html('runs/a\t%2F&"')).toContain('path=runs%2Fa%09%252F%26%22"')
})

test('says how much goes', () => {
  const of = (files: number, bytes: number, complete = true) => deleteWords({ path: 'a/', files, bytes, complete })
  expect(deleteWords(null)).toBe('You can’t undo this.')
  expect(of(1, 5)).toBe('It has 1 file, 5 bytes. You can’t undo this.')
  expect(of(8000, 2e9)).toBe('It has 8,000 files, 2 GB in all. You can’t undo this.')
  expect(of(8000, 2e9, false)).toBe('It has more than 8,000 files, and more than 2 GB. You can’t undo this.')
})
