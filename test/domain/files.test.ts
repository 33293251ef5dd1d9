import { expect, test } from 'vitest'
import {
  faultOfNewPath,
  faultOfPath,
  inText,
  isWithin,
  nameOf,
  overLimit,
  sizeText,
  toFolder,
  toStoredPath,
  typeOfFile,
} from '../../src/domain/files.ts'

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

test('refuses what could lead elsewhere, to the byte', () => {
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
  ])
    expect(faultOfPath(path), JSON.stringify(path)).toEqual(expect.any(String))
  expect(faultOfPath('a'.repeat(512))).toBe(null)
  expect(faultOfPath('a'.repeat(513))).toContain('512 bytes')
  expect(faultOfPath('é'.repeat(256))).toBe(null)
  expect(faultOfPath(`${'é'.repeat(256)}a`)).toContain('512 bytes')
})

test('refuses new names that look like others', () => {
  for (const path of ['a//b', 'a/', 'a\u202egnp.exe', '\u2066a', '\u2069a', '\u202aa'])
    expect([faultOfPath(path), faultOfNewPath(path)], path).toEqual([null, expect.any(String)])
  expect(toStoredPath('e\u0301')).toBe('\u00e9')
})

test('finds folders and names', () => {
  expect([toFolder('a/b/'), toFolder('a'), toFolder('')]).toEqual(['a/b', 'a', ''])
  expect([nameOf('a/b.txt'), nameOf('b.txt')]).toEqual(['b.txt', 'b.txt'])
  expect([isWithin('a/b', 'a'), isWithin('a', 'a'), isWithin('ab', 'a'), isWithin('x', '')]).toEqual([
    true,
    true,
    false,
    true,
  ])
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
  expect(overLimit({ used: 1_000_000_000, limit: 1_000_000_000, size: 1 })).toContain('nothing is left')
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
