import { expect, inject, test } from 'vitest'
import { answered, confirmed, jobsChannel, openSocket } from '../../../testing/people/cable.ts'
import { openRawSocket } from '../../../testing/people/cable-upgrade.ts'
import { newPerson, waitFor } from '../../../testing/people/client.ts'

const url = inject('url')
const subscription = (identifier: string) => JSON.stringify({ command: 'subscribe', identifier })

test('ignores invalid commands and keeps the socket open', async () => {
  const ada = await newPerson(url)
  const cable = await openSocket(ada)
  const identifier = jobsChannel(ada.id)
  for (const frame of [
    '',
    ' ',
    '{',
    'null',
    '[1]',
    '7',
    '"subscribe"',
    '{"command":"subscribe"}',
    '{"command":"subscribe","identifier":{}}',
    '{"command":"subscribe","identifier":"no json"}',
    '{"command":"subscribe","identifier":"[]"}',
    '{"command":"subscribe","identifier":"null"}',
  ])
    cable.send(frame)
  cable.send(new Uint8Array([0, 255, 1]))
  cable.subscribe(identifier)
  await answered(cable, ada.id)
  expect(cable.said().slice(0, -1)).toEqual(['{"type":"welcome"}', confirmed(identifier)])
  expect(cable.isClosed()).toBe(false)
  cable.socket.close()
})

test('ignores binary commands, because the protocol is text', async () => {
  const ada = await newPerson(url)
  const cable = await openRawSocket(ada)
  const [binary, text] = [jobsChannel(ada.id), `${jobsChannel(ada.id)} `]
  cable.write('binary', subscription(binary))
  cable.write('text', subscription(text))
  await waitFor(async () => cable.said().includes(confirmed(text)))
  expect(cable.said()).toEqual(['{"type":"welcome"}', confirmed(text)])
  cable.end()
})

test('joins a fragmented command, even with a protocol ping in between', async () => {
  const ada = await newPerson(url)
  const cable = await openRawSocket(ada)
  const identifier = `{"channel":"JobsChannel","user_id":"${ada.id}","tab":"🛰"}`
  const bytes = Buffer.from(subscription(identifier))
  // The second cut splits a four-byte character.
  const cut = bytes.indexOf(Buffer.from('🛰')) + 2
  cable.write('text', bytes.subarray(0, 5), { fin: false })
  cable.write('continuation', bytes.subarray(5, cut), { fin: false })
  cable.write('ping', 'between')
  cable.write('continuation', bytes.subarray(cut), { fin: true })
  await waitFor(async () => cable.said().includes(confirmed(identifier)))
  expect(cable.frames().filter(({ opcode }) => opcode === 'pong')).toHaveLength(1)
  cable.end()
})

test('fragments totaling more than 4 KB close the socket', async () => {
  const ada = await newPerson(url)
  const cable = await openRawSocket(ada)
  cable.write('text', 'x'.repeat(2_100), { fin: false })
  cable.write('continuation', 'x'.repeat(2_100), { fin: true })
  const close = await waitFor(async () => cable.frames().find(({ opcode }) => opcode === 'close'))
  expect(close.payload.readUInt16BE(0)).toBe(1008)
  cable.end()
})

test('reads exactly 4 KB', async () => {
  const ada = await newPerson(url)
  const cable = await openSocket(ada)
  const identifier = jobsChannel(ada.id)
  cable.send(subscription(identifier).padEnd(4_096, ' '))
  await answered(cable, ada.id)
  expect(cable.said()[1]).toBe(confirmed(identifier))
  cable.socket.close()
})

type Send = (frame: string | Uint8Array<ArrayBuffer>) => void

test.each<[string, (send: Send) => void]>([
  ['more than 4 KB', (send) => send('x'.repeat(4_097))],
  ['more than 4 KB of non-ASCII text', (send) => send('é'.repeat(2_049))],
  ['more than 4 KB in binary', (send) => send(new Uint8Array(4_097))],
  ['more than 20 messages a second', (send) => void Array.from({ length: 100 }, () => send('{}'))],
  [
    'more than 20 binary messages a second',
    (send) => void Array.from({ length: 100 }, () => send(new Uint8Array([1]))),
  ],
])('%s closes the socket', async (_, flood) => {
  const ada = await newPerson(url)
  const [cable, other] = [await openSocket(ada), await openSocket(ada)]
  flood(cable.send)
  expect((await cable.closed()).code).toBe(1008)
  await answered(other, ada.id)
  expect(other.isClosed(), "the person's other socket").toBe(false)
  other.socket.close()
})
