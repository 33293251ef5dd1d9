import { expect, test } from 'vitest'
import {
  CLIENT_ID,
  DEVICE_GRANT,
  DEVICE_LOGIN_MS,
  deviceName,
  freeTokenName,
  newUserCode,
  readUserCode,
} from '../../src/domain/device-code.ts'

test('a user code has eight letters in two groups, without vowels', () => {
  let next = 0
  expect(newUserCode((below) => (below === 20 ? next++ : -1))).toBe('BCDF-GHJK')
  expect(newUserCode(() => 19)).toBe('ZZZZ-ZZZZ')
})

test('reads a code however someone typed it', () => {
  for (const typed of ['BCDF-GHJK', 'bcdfghjk', ' bcdf ghjk ', 'B-C-D-F-G-H-J-K', 'BCDF–GHJK', 'BCDF\u2010GHJK'])
    expect(readUserCode(typed), typed).toBe('BCDF-GHJK')
  for (const typed of ['', 'BCDF-GHJ', 'BCDF-GHJKL', 'ABCD-FGHJ', 'BCDF-GHJ1', 'BCDF_GHJK', 'BCDF-GHJ0'])
    expect(readUserCode(typed), typed).toBeNull()
})

test('shows what a program calls its computer, unless it is unreadable', () => {
  expect(deviceName(' laptop ')).toBe('laptop')
  expect(deviceName('x'.repeat(40))).toBe('x'.repeat(40))
  for (const name of ['', '  ', 'x'.repeat(41), 'a\u202eb', 'a\nb']) expect(deviceName(name)).toBe('A computer')
})

test('finds a name that no other token has', () => {
  expect(freeTokenName('laptop', [])).toBe('laptop')
  expect(freeTokenName('laptop', ['laptop', 'laptop (3)'])).toBe('laptop (2)')
  expect(freeTokenName('laptop', ['laptop', 'laptop (2)'])).toBe('laptop (3)')
})

test('the names and the 10 minutes that the command line relies on', () => {
  expect([CLIENT_ID, DEVICE_GRANT, DEVICE_LOGIN_MS]).toEqual([
    'proving-ground',
    'urn:ietf:params:oauth:grant-type:device_code',
    600_000,
  ])
})
