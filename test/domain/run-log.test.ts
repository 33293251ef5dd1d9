import { expect, test } from 'vitest'
import { cutLine } from '../../src/domain/run-log.ts'

test('of what a machine calls one line, the line breaks and what a carriage return overwrote go', () => {
  expect(cutLine('42%\r100%\r\r\ndone\r\r')).toBe('100% done')
  expect(cutLine('a\n\r')).toBe('a ')
})

test('a batch of nothing but carriage returns costs no more than another', () => {
  expect(cutLine(`${'\r'.repeat(100_000)}a`)).toBe('a')
})
