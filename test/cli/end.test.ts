import { expect, inject, test } from 'vitest'
import { whenOf } from '../../cli/src/end.ts'
import { newOperator } from '../../testing/people/command-line.ts'

const now = new Date(2026, 10, 24, 15, 30)
const local = (...at: [number, number, number, number, number]) => new Date(...at).toISOString()

test.each([
  ['18:00', local(2026, 10, 24, 18, 0)],
  // It has passed today.
  ['9:05', local(2026, 10, 25, 9, 5)],
  ['15:30', local(2026, 10, 25, 15, 30)],
  ['2026-11-30T08:00', local(2026, 10, 30, 8, 0)],
  ['2026-11-30T08:00:00Z', '2026-11-30T08:00:00.000Z'],
  ['24:00', null],
  ['18:60', null],
  ['tomorrow', null],
  ['2026-11-30', null],
])('takes %s for %s', (text, expected) => {
  expect(whenOf(text, now)).toBe(expected)
})

test('says what ends a trial’s server, and moves no end of one that stops', async () => {
  const { run } = await newOperator(inject('url'))
  const said = async (...args: string[]) => {
    const { out, err } = await run(args)
    return out + err
  }
  expect((await run(['start', '--wait', '--stop-after', '1h'])).code).toBe(0)
  expect(await said('extend', '1h')).toMatch(/^It stops at .+, or earlier when your free minutes are used up\.\n$/)
  expect(await said('end', 'never')).toBe('It stops when your free minutes are used up.\n')
  await run(['stop'])
  expect(await said('end', 'never')).toMatch(/^error: (Your server is already stopping|No server is running)\.\n$/)
})
