import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listLocal, placeIn } from '../../cli/src/files/local.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'

test('a file goes into its folder, and no name leads out of it', () => {
  const folder = temporaryFolder('place')
  expect(placeIn(folder, 'a/b c/é.txt')).toBe(join(folder, 'a/b c/é.txt'))
  expect(placeIn(folder, 'a/...')).toBe(join(folder, 'a/...'))
  for (const path of ['../x', 'a/../../x', '/etc/passwd', '..', '.', '', 'a//x', 'a/./x', 'a/..'])
    expect(() => placeIn(folder, path), path).toThrow('would lead out of the folder')
})

test('lists files with paths as the site has them, without links and halves of downloads', async () => {
  const folder = temporaryFolder('list')
  mkdirSync(join(folder, 'a'))
  writeFileSync(join(folder, 'a', 'e\u0301.txt'), 'x')
  writeFileSync(join(folder, 'b.bin.0a1b2c3d.part'), 'x')
  writeFileSync(join(folder, 'mine.part'), 'xy')
  symlinkSync('/etc/passwd', join(folder, 'link'))
  expect(await listLocal(folder)).toMatchObject([
    { path: 'a/\u00e9.txt', size: 1 },
    { path: 'mine.part', size: 2 },
  ])
})
