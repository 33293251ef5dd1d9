import { expect, test } from 'vitest'
import { openIndex, writeIndex } from '../../src/domain/docs-search.ts'

const section = (title: string, text: string, { page = 'Servers', code = '' } = {}) => ({
  ...{ address: `/docs/images#${title.toLowerCase().replaceAll(' ', '-')}`, page, title, text, code },
})
const LONG = `${'a word that comes before, '.repeat(8)}the receipt and ${'what comes after it, '.repeat(10)}`
const search = (words: string) =>
  openIndex(
    writeIndex([
      section('Idle servers', 'One that nobody has used is stopped after 15 minutes.'),
      section('At the end', 'Your server stops, and idle ones stop as well.'),
      section('Invoices', LONG, { page: 'Billing' }),
      section('Halting', LONG),
      section('Others', 'Halting, halting.'),
      section('Completion', 'Add one of these lines.', { page: 'Command line', code: 'eval "$(proving-ground zsh)"' }),
      ...Array.from({ length: 30 }, (_, i) => section(`Call ${i}`, 'A call.', { page: 'API' })),
    ]),
  )(words)
const titles = (words: string) => search(words).map(({ title }) => title)

test('finds what has all words, the title first, and the last word may be unfinished', () => {
  expect(titles('idle serv')).toEqual(['Idle servers', 'At the end'])
  expect(titles('idle min')).toEqual(['Idle servers'])
  expect(titles('min idle')).toEqual(['Idle servers', 'At the end'])
  expect(titles('halting')).toEqual(['Halting', 'Others'])
  expect(search('idle').map(({ page, address }) => [page, address])[0]).toEqual([
    'Servers',
    '/docs/images#idle-servers',
  ])
  expect(titles('billing')).toEqual(['Invoices'])
})

test('finds what has some of the words if nothing has all, forgives one wrong letter, and reads code', () => {
  expect(titles('idle receipt').sort()).toEqual(['At the end', 'Halting', 'Idle servers', 'Invoices'])
  expect(titles('reciept')).toEqual([])
  expect(titles('receipd').sort()).toEqual(['Halting', 'Invoices'])
  expect(titles('isle')).toEqual([])
  expect(search('zsh')[0]).toMatchObject({ title: 'Completion', excerpt: ['', '', 'Add one of these lines.'] })
  expect(titles('')).toEqual([])
})

test('shows the first word that was searched for, in about two lines', () => {
  expect(search('NOBODY')[0]?.excerpt).toEqual(['One that ', 'nobody', ' has used is stopped after 15 minutes.'])
  const [before = '', word, after = ''] = search('receipt')[0]?.excerpt ?? []
  expect([before, word]).toEqual(['…comes before, a word that comes before, the ', 'receipt'])
  expect(after).toMatch(/^ and what comes after it, .* what…$/)
  expect(after.length).toBeLessThan(110)
})

test('gives at most twenty', () => {
  expect(titles('call')).toHaveLength(20)
})
