import { expect, test } from 'vitest'
import { isAddressable, removalOf } from '../../src/domain/file-keys.ts'

test('no URL holds a key with a segment of one or two dots', () => {
  for (const key of ['a/../b', '../a', 'a/..', 'a/./b', '.', 'a/.'])
    expect([isAddressable(key), new URL(`http://x/${key}`).pathname === `/${key}`], key).toEqual([false, false])
  for (const key of ['...', 'a/.b', 'a../b', '%2e%2e/a', 'a//b', 'a/', '/a'])
    expect([isAddressable(key), new URL(`http://x/${encodeURI(key)}`).pathname], key).toEqual([
      true,
      `/${encodeURI(key)}`,
    ])
})

test('removes in one text what XML holds as it is, and the rest by address', () => {
  for (const key of ['a', 'a b', 'a&<>"\'', 'é', 'e\u0301', '👩‍🚀', 'a//b', '../a'])
    expect(removalOf(key), key).toBe('together')
  for (const key of [' a', 'a ', 'a\tb', 'a\r', 'a\n', '\u0001', '\u0000', '\u007f', '\u0085', '\uffff', '\u00a0a'])
    expect(removalOf(key), JSON.stringify(key)).toBe('alone')
  // An address would be another key's, so XML is all there is.
  expect([removalOf('../a '), removalOf('../a\t'), removalOf('../\u0001')]).toEqual(['together', 'together', null])
})
