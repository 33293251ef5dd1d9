import { expect, inject, test } from 'vitest'
import { KEEPALIVE, KEEPALIVE_ANSWER } from '../../../src/domain/cable.ts'
import { answered, openSocket } from '../../../testing/people/cable.ts'
import { newPerson, waitFor } from '../../../testing/people/client.ts'

const url = inject('url')
const pingsOf = (frames: string[]) => frames.map((frame) => JSON.parse(frame)).filter(({ type }) => type === 'ping')

test('pings a silent client after the welcome, with times at least 3 s apart', async () => {
  const ada = await newPerson(url)
  const cable = await openSocket(ada)
  const pings = await waitFor(async () => pingsOf(cable.frames).length >= 3 && pingsOf(cable.frames))
  expect(JSON.parse(cable.frames[0] as string)).toEqual({ type: 'welcome' })
  for (const [i, { message }] of pings.entries()) {
    expect(Number.isInteger(message)).toBe(true)
    if (i) expect(message - pings[i - 1].message).toBeGreaterThanOrEqual(3)
  }
  cable.socket.close()
})

test('answers keepalives without extra pings, and still pings a silent neighbor', async () => {
  const ada = await newPerson(url)
  const [silent, kept] = [await openSocket(ada), await openSocket(ada)]
  kept.send(KEEPALIVE)
  await kept.until(KEEPALIVE_ANSWER)
  const timer = setInterval(() => kept.send(KEEPALIVE), 200)
  await waitFor(async () => pingsOf(silent.frames).length >= 3)
  clearInterval(timer)
  await answered(kept, ada.id)
  expect(pingsOf(kept.frames).filter(({ message }) => message !== undefined)).toEqual([])
  expect(pingsOf(silent.frames).every(({ message }) => message > 0)).toBe(true)
  for (const { socket } of [silent, kept]) socket.close()
})
