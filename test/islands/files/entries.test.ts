import { expect, test } from 'vitest'
import { nameInArchive } from '../../../src/islands/files/archive.ts'
import { chosenFor, pickedFrom, pickedIn } from '../../../src/islands/files/chosen-files.ts'
import {
  BY_NAME,
  type Entry,
  entriesOf,
  filterEntries,
  pageOfFolder,
  pageThatAsks,
  sortEntries,
  trailOf,
} from '../../../src/islands/files/entries.ts'
import { MAX_DRAWING, MAX_IMAGE, previewKind } from '../../../src/islands/files/preview-kind.ts'

const file = (name: string, size = 0, modifiedAt = ''): Entry => ({
  name,
  path: name,
  isFolder: false,
  size,
  modifiedAt,
  isAddressable: true,
})
const folder = (name: string): Entry => ({ name, path: `${name}/`, isFolder: true })
const names = (entries: Entry[]) => entries.map(({ name }) => name)

test('folders come first, and numbers in names count as numbers', () => {
  const some = [file('run 10'), file('Run 9'), folder('z'), file('élan'), folder('b')]
  expect(names(sortEntries(some, BY_NAME))).toEqual(['b', 'z', 'élan', 'Run 9', 'run 10'])
  expect(names(sortEntries(some, { by: 'name', descending: true }))).toEqual(['z', 'b', 'run 10', 'Run 9', 'élan'])
})

test('sorts by size and by time, and by name where those are equal', () => {
  const some = [
    file('c', 1, '2026-01-03'),
    file('a', 1, '2026-01-01'),
    folder('z'),
    folder('y'),
    file('b', 0, '2026-01-02'),
  ]
  expect(names(sortEntries(some, { by: 'size', descending: true }))).toEqual(['y', 'z', 'a', 'c', 'b'])
  expect(names(sortEntries(some, { by: 'modified', descending: false }))).toEqual(['y', 'z', 'a', 'b', 'c'])
})

test('filters in any case and any spelling of a letter', () => {
  const some = [file('Me\u0301xico.csv'), file('رحلة.txt')]
  expect(names(filterEntries(some, ' MÉX '))).toEqual(['Me\u0301xico.csv'])
  expect(filterEntries(some, 'رحلة')).toHaveLength(1)
  expect(filterEntries(some, '')).toHaveLength(2)
})

test('links keep every character of a path', () => {
  expect(trailOf('')).toEqual([])
  expect(trailOf('a/b & c/')).toEqual([
    { name: 'a', path: 'a/' },
    { name: 'b & c', path: 'a/b & c/' },
  ])
  expect(trailOf('//').map(({ path }) => path)).toEqual(['/', '//'])
  for (const path of ['a/b & c?#%/', ' \t%2F/', 'a//', '/'])
    expect(new URL(pageOfFolder(path), 'https://x.example').searchParams.get('path')).toBe(path)
  const asks = new URL(pageThatAsks('a+b/', folder('c&d\n')), 'https://x.example').searchParams
  expect([asks.get('path'), asks.get('delete')]).toEqual(['a+b/', 'c&d\n/'])
})

test('a file and a folder of one name are two rows, with paths of their own', () => {
  const at = { size: 1, modified_at: '' }
  const files = [
    { name: 'run7', ...at },
    { name: '..', ...at, unaddressable: true as const },
  ]
  const rows = entriesOf({ path: 'a', folders: [{ name: 'run7' }, { name: '' }], files })
  expect(rows.map(({ path }) => path)).toEqual(['a/run7/', 'a//', 'a/run7', 'a/..'])
  expect(rows.map((row) => row.isFolder || row.isAddressable)).toEqual([true, true, true, false])
})

test('takes folders as they were chosen, composed, without litter, and says what can not be', () => {
  const chosen = (name: string) => Object.assign(new File(['x'], name, { lastModified: 7 }), { webkitRelativePath: '' })
  const inFolder = Object.assign(new File(['x'], 'a.txt'), { webkitRelativePath: 'flight/a.txt' })
  const picked = pickedIn([chosen('e\u0301.txt'), inFolder, chosen('.DS_Store'), chosen('a\u202etxt.exe')])
  const { chosen: taken, refused } = chosenFor('runs/', picked)
  expect(taken.map(({ path }) => path)).toEqual(['runs/é.txt', 'runs/flight/a.txt'])
  expect(taken[0]?.version).toBe('7')
  expect(refused).toEqual([expect.stringContaining("can't have characters that change the direction")])
  expect(chosenFor('', pickedIn([chosen('.DS_Store')])).chosen).toHaveLength(1)
})

test('of two names that become one path, the second is refused', () => {
  const named = (name: string) => Object.assign(new File(['x'], 'x'), { webkitRelativePath: name })
  const { chosen, refused } = chosenFor('', pickedIn(['d/é.txt', 'd/e\u0301.txt', 'e/é.txt'].map(named)))
  expect(chosen.map(({ path }) => path)).toEqual(['d/é.txt', 'e/é.txt'])
  expect(refused).toEqual([expect.stringContaining('has the same name')])
})

test('what a browser cannot read does not keep the rest of a dropped folder', async () => {
  const file = (name: string, read: File | null) => ({
    fullPath: `/flight/${name}`,
    isFile: true,
    file: (give: (file: File) => void, fail: (error: Error) => void) => (read ? give(read) : fail(new Error())),
  })
  const folder = (name: string, inner: unknown[] | null) => {
    const pages = [inner ?? [], []]
    const readEntries = (give: (some?: unknown[]) => void, fail: (error: Error) => void) =>
      inner ? give(pages.shift()) : fail(new Error())
    return { fullPath: name, isFile: false, createReader: () => ({ readEntries }) }
  }
  const whole = [file('', null), folder('/flight/closed', null), file('a.txt', new File(['a'], 'a.txt'))]
  const items = [{ webkitGetAsEntry: () => folder('/flight', whole) }]
  const { chosen, refused } = chosenFor('', await pickedFrom({ items } as unknown as DataTransfer))
  expect(chosen.map(({ path }) => path)).toEqual(['flight/a.txt'])
  expect(refused.map((sentence) => sentence.split(':')[0])).toEqual(['flight', 'closed'])
})

test('previews what browsers show, everything else as letters or not at all', () => {
  expect(previewKind('a.PNG', MAX_IMAGE)).toBe('image')
  expect(previewKind('a.png', MAX_IMAGE + 1)).toBeNull()
  expect(previewKind('a.svg', MAX_DRAWING)).toBe('drawing')
  expect(previewKind('a.svg', MAX_DRAWING + 1)).toBe('text')
  expect(previewKind('page.html', 1)).toBe('text')
  expect(previewKind('flight.mp4', 1e12)).toBe('video')
  expect([previewKind('a.zip', 1), previewKind('png', 1), previewKind('.png', 1)]).toEqual([null, null, 'image'])
})

test('names in an archive stay in its folder, also where backslashes and colons mean something', () => {
  expect(nameInArchive('a/رحلة.txt')).toBe('a/رحلة.txt')
  expect(nameInArchive('../a//b')).toBe('_/a/_/b')
  expect(nameInArchive('..\\..\\C:x')).toBe('..＼..＼C：x')
})
