import { expect, test } from 'vitest'
import { inText, nameOf, toFolder, visible } from '../../src/domain/file-names.ts'
import { faultOfPath, overLimit, sizeText, toNewPath, typeOfFile } from '../../src/domain/files.ts'

const faultOfNewPath = (path: string) => toNewPath(path).fault

test('accepts names in every script, and dots that lead nowhere', () => {
  for (const path of [
    'a',
    'runs/flight 1.csv',
    'رحلة/飞行.txt',
    '..a',
    'a..b',
    '...',
    'a+b%20&?#.txt',
    "it's",
    '👩‍🚀.png',
  ])
    expect([faultOfPath(path), faultOfNewPath(path)], path).toEqual([null, null])
})

test('reads and deletes whatever a program may have written, to the byte', () => {
  for (const path of [
    '',
    '/a',
    '..',
    'a/../b',
    './a',
    'a\tb',
    '\u0000',
    'a//b',
    'a/',
    'a\u202egnp.exe',
    'é'.repeat(512),
  ])
    expect(faultOfPath(path), JSON.stringify(path)).toBe(null)
  for (const path of ['\ud800', 'a'.repeat(1025), `${'é'.repeat(512)}a`])
    expect(faultOfPath(path), JSON.stringify(path)).toContain('1024 bytes')
})

test('writes no name that leads elsewhere, looks like another, or is lost on a disk', () => {
  for (const path of [
    '',
    '/a',
    '..',
    'a/..',
    '../a',
    'a/../b',
    '.',
    './a',
    'a\tb',
    'a\u007f',
    'a\u0085',
    'a\u2028',
    '\ud800',
    'a//b',
    'a/',
    'a\u202egnp.exe',
    '\u2066a',
    '\u2069a',
    '\u202aa',
  ])
    expect(faultOfNewPath(path), JSON.stringify(path)).toEqual(expect.any(String))
  expect(toNewPath('e\u0301')).toEqual({ path: '\u00e9', fault: null })
})

test('writes paths of 512 bytes and 32 folders, and no longer ones', () => {
  expect(faultOfNewPath('a'.repeat(512))).toBe(null)
  expect(faultOfNewPath('a'.repeat(513))).toContain('512 bytes')
  expect(faultOfNewPath('é'.repeat(256))).toBe(null)
  expect(faultOfNewPath(`${'é'.repeat(256)}a`)).toContain('512 bytes')
  expect(faultOfNewPath(`${'d/'.repeat(32)}a`)).toBe(null)
  expect(faultOfNewPath(`${'d/'.repeat(33)}a`)).toContain('32 folders')
})

test('measures a path before it composes it', () => {
  const marks = `a${'\u0301\u0323'.repeat(15_000)}`
  const { path, fault } = toNewPath(marks)
  expect(fault).toContain('512 bytes')
  expect(path).toBe(marks)
  // Letters that are longer before they are composed.
  expect(faultOfNewPath('각'.normalize('NFD').repeat(170))).toBe(null)
})

test('finds folders and names', () => {
  expect([toFolder('a/b/'), toFolder('a'), toFolder(''), toFolder('/')]).toEqual(['a/b/', 'a/', '', '/'])
  expect(['a/b.txt', 'b.txt', 'a/b/', 'a//', '/', ''].map(nameOf)).toEqual(['b.txt', 'b.txt', 'b', '', '', ''])
})

test('writes sizes as plans do, never rounded up', () => {
  expect([0, 1, 999, 1000, 1_550, 999_999, 1_000_000, 10_000_000_000, 2e15, 2e18].map(sizeText)).toEqual([
    '0 bytes',
    '1 byte',
    '999 bytes',
    '1 kB',
    '1.5 kB',
    '999.9 kB',
    '1 MB',
    '10 GB',
    '2 PB',
    '2000 PB',
  ])
  expect(overLimit({ used: 1_000_000_000, limit: 1_000_000_000, size: 1 })).toContain('you have no space left')
})

test('gives names a type that no browser runs', () => {
  expect(['a.png', 'a.MP4', 'a.csv', 'a'].map(typeOfFile)).toEqual([
    'image/png',
    'video/mp4',
    'text/csv; charset=utf-8',
    'application/octet-stream',
  ])
  for (const name of ['a.html', 'a.svg', 'a.xml', 'a.js', 'a.constructor', 'png', 'a.png/b'])
    expect(typeOfFile(name), name).toBe('application/octet-stream')
})

test('isolates names that run from right to left, and leaves others alone', () => {
  for (const name of ['flight.csv', 'été/1.csv', '日本/記録.txt', '🚁.mp4']) expect(inText(name)).toBe(name)
  for (const name of ['رحلة 1.csv', 'runs/טיסה.csv', 'ܐ.txt', '𞤀.txt']) expect(inText(name)).toBe(`\u2068${name}\u2069`)
})

test('shows what nobody would see in a name', () => {
  expect(visible(' a\tb\u0000\u007f  ')).toBe('␣a␉b␀␡␣␣')
  expect(inText('a\u202eb\nc')).toBe('a\ufffdb␊c')
})
