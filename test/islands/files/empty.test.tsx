import { renderToString } from 'react-dom/server'
import { expect, test } from 'vitest'
import { FILES_READ_ONLY } from '../../../src/domain/files.ts'
import { Files, type FilesProps } from '../../../src/islands/Files.tsx'

const list = {
  path: '',
  folders: [],
  files: [],
  deleting: [],
  next: null,
  on_servers: 'all' as const,
  used_bytes: 0,
  limit_bytes: 10_000_000_000,
}
const EMPTY: FilesProps = {
  list: { ...list, counted_at: '2026-11-25T00:00:00Z' },
  after: null,
  unfinished: [],
  readOnly: null,
  filesStay: true,
  question: null,
  csrfToken: 'token',
  flash: null,
}
const textOf = (props: Partial<FilesProps>) =>
  renderToString(<Files {...EMPTY} {...props} />)
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .replaceAll('&#x27;', "'")

test('says how to rename where people look for it, also between files', () => {
  const files = [{ name: 'flight.csv', size: 1, modified_at: '2026-11-25T00:00:00Z' }]
  for (const given of [{}, { list: { ...EMPTY.list, files } }, { readOnly: 'held' as const }]) {
    expect(textOf(given)).toContain('To rename or move files, use /data on a server, or rclone .')
    expect(renderToString(<Files {...EMPTY} {...given} />)).toContain('<a href="/docs/cli#files">rclone</a>')
  }
})

test('an empty page says what the person may do', () => {
  expect(textOf({})).toContain('No files yet. Upload some, or save them in /data on a server.')
  expect(textOf({ filesStay: false })).toContain('No files yet. Upload some. ')
  for (const readOnly of ['ended', 'none'] as const) {
    const text = textOf({ readOnly })
    expect(text).toContain(FILES_READ_ONLY.none)
    expect(text).toContain('No files.')
    expect(text).not.toMatch(/Upload|Used|10 GB/)
  }
})

test('while names are still being read, it doesn’t say that there are none', () => {
  const text = textOf({ list: { ...EMPTY.list, next: 'a.txt' } })
  expect(text).toContain('Reading names…')
  expect(text).not.toContain('No files')
})

test('while an ended plan’s files are kept, it says what they use', () => {
  expect(textOf({ readOnly: 'unpaid' })).toContain(FILES_READ_ONLY.unpaid)
  const text = textOf({ readOnly: 'ended', list: { ...EMPTY.list, used_bytes: 5 } })
  expect(text).toContain(FILES_READ_ONLY.ended)
  expect(text).toContain('5 bytes of 10 GB')
})
