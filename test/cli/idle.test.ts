import { expect, inject, test } from 'vitest'
import { newOperator } from '../../testing/people/command-line.ts'

const url = inject('url')

test('sets, shows, and removes when idle servers stop; a read-only token only shows it', async () => {
  const { run } = await newOperator(url)
  const never = { code: 0, out: 'Idle stop is off.\n', err: '' }
  expect(await run(['idle'])).toEqual(never)
  expect(await run(['idle', '1h30m'])).toEqual({
    code: 0,
    out: "Your servers stop after 90 idle minutes, if the simulator reports that it's idle.\n",
    err: '',
  })
  expect(JSON.parse((await run(['idle', '--json'])).out)).toEqual({ minutes: 90 })
  for (const time of ['14m', '241m', '15m1s']) {
    const refused = await run(['idle', time])
    expect([refused.code, refused.err]).toEqual([1, 'error: Choose from 15 to 240 minutes.\n'])
  }
  expect((await run(['idle', '30'])).code).toBe(2)
  expect(JSON.parse((await run(['idle', '--json'])).out)).toEqual({ minutes: 90 })
  expect(await run(['idle', 'never'])).toEqual(never)

  const reader = await newOperator(url, 'read')
  expect(await reader.run(['idle'])).toEqual(never)
  expect((await reader.run(['idle', '15m'])).code).toBe(1)
})
