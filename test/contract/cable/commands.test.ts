import { expect, inject, test } from 'vitest'
import { answered, confirmed, jobsChannel, openSocket } from '../../../testing/people/cable.ts'
import { newPerson, waitFor } from '../../../testing/people/client.ts'

const url = inject('url')

const rejected = (identifier: string) => JSON.stringify({ identifier, type: 'reject_subscription' })

const SPELLINGS: [string, (id: string) => string][] = [
  ['as stock clients do', (id) => jobsChannel(id)],
  ['in another order', (id) => `{"user_id":"${id}","channel":"JobsChannel"}`],
  ['with spaces and line ends', (id) => `\t{ "channel" :\n "JobsChannel",   "user_id": "${id}" } `],
  ['with escapes', (id) => `{"ch\\u0061nnel":"Jobs\\u0043hannel","user_id":"${id}"}`],
  ['with letters of all the world', (id) => `{"channel":"JobsChannel","user_id":"${id}","tab":"Zoë 🛰️ \u2028"}`],
  ['with half of a letter', (id) => `{"channel":"JobsChannel","user_id":"${id}","tab":"\\ud83d"}`],
  ['with a bare half of a letter', (id) => `{"channel":"JobsChannel","user_id":"${id}","tab":"\ud83d"}`],
  ['with more params', (id) => `{"channel":"JobsChannel","user_id":"${id}","n":1.50,"deep":{"b":[],"a":null}}`],
  ['with a key twice', (id) => `{"channel":"X","user_id":"${id}","channel":"JobsChannel"}`],
]

test('returns an identifier byte for byte, in any spelling', async () => {
  const ada = await newPerson(url)
  for (const [how, spell] of SPELLINGS) {
    const cable = await openSocket(ada)
    const identifier = spell(ada.id)
    cable.subscribe(identifier)
    await answered(cable, ada.id)
    expect(cable.said().slice(0, 2), how).toEqual(['{"type":"welcome"}', confirmed(identifier)])
    expect(JSON.parse(cable.said()[1] as string).identifier, how).toBe(identifier)
    cable.socket.close()
  }
})

test('ignores a duplicate subscription', async () => {
  const ada = await newPerson(url)
  const cable = await openSocket(ada)
  const identifier = jobsChannel(ada.id)
  for (let i = 0; i < 3; i++) cable.subscribe(identifier)
  await answered(cable, ada.id)
  expect(cable.said().filter((frame) => frame === confirmed(identifier))).toHaveLength(1)
  cable.socket.close()
})

test('unsubscribes silently, and confirms a new subscription', async () => {
  const ada = await newPerson(url)
  const cable = await openSocket(ada)
  const identifier = jobsChannel(ada.id)
  for (let round = 1; round <= 3; round++) {
    cable.subscribe(identifier)
    await waitFor(async () => cable.said().filter((frame) => frame === confirmed(identifier)).length === round)
    cable.unsubscribe(identifier)
  }
  await answered(cable, ada.id)
  expect(cable.said().slice(1, -1)).toEqual(Array(3).fill(confirmed(identifier)))
  cable.socket.close()
})

test('unsubscribing with an unknown or differently spelled identifier ends nothing', async () => {
  const ada = await newPerson(url)
  const cable = await openSocket(ada)
  const identifier = jobsChannel(ada.id)
  cable.subscribe(identifier)
  cable.unsubscribe(`{"user_id":"${ada.id}","channel":"JobsChannel"}`)
  cable.unsubscribe(jobsChannel('user_nobody'))
  cable.send('{"command":"unsubscribe"}')
  await ada.post('/api/v1/aws/auto_cloud_start_request')
  await waitFor(async () => cable.jobs().length)
  expect(cable.said().slice(0, 2)).toEqual(['{"type":"welcome"}', confirmed(identifier)])
  cable.socket.close()
})

test('rejects an unknown or foreign channel under its own identifier, every time', async () => {
  const [ada, eve] = [await newPerson(url), await newPerson(url)]
  const cable = await openSocket(eve)
  const asked = [
    '{"channel":"NobodysChannel"}',
    '{}',
    '{"channel":null}',
    `{"channel":"JobsChannel"}`,
    `{"channel":"jobs_channel","user_id":"${eve.id}"}`,
    `{"channel":"JobsChannel","user_id":"${ada.id}"}`,
    `{"channel":"JobsChannel","user_id":"${ada.id}"}`,
    `{"channel":"JobsChannel","user_id":["${eve.id}"]}`,
    `{"channel":"JobsChannel","user_id":"${eve.id} "}`,
    '{"channel":"__proto__","user_id":"x"}',
    '{"channel":"$pubsub","stream_name":"x"}',
  ]
  for (const identifier of asked) cable.subscribe(identifier)
  await answered(cable, eve.id)
  expect(cable.said().slice(1, -1)).toEqual(asked.map(rejected))
  expect(cable.isClosed()).toBe(false)
  cable.socket.close()
})

test('ignores unknown commands, and messages to an unsubscribed channel', async () => {
  const ada = await newPerson(url)
  const cable = await openSocket(ada)
  for (const command of [
    { command: 'message', data: '{"action":"stop"}' },
    { command: 'message' },
    { command: 'whisper', data: {} },
    { command: 'history', history: { since: 0 } },
    { command: 'pong' },
    { command: 'SUBSCRIBE' },
    { command: 'constructor' },
    { command: ['subscribe'] },
    {},
  ])
    cable.send(JSON.stringify({ ...command, identifier: jobsChannel(ada.id) }))
  await answered(cable, ada.id)
  expect(cable.said().slice(0, -1)).toEqual(['{"type":"welcome"}'])
  expect(cable.isClosed()).toBe(false)
  cable.socket.close()
})

test('ignores messages to a subscribed channel', async () => {
  const ada = await newPerson(url)
  const cable = await openSocket(ada)
  const identifier = jobsChannel(ada.id)
  cable.subscribe(identifier)
  cable.send(JSON.stringify({ command: 'message', identifier, data: '{"action":"receive"}' }))
  cable.send(JSON.stringify({ command: 'message', identifier, data: 'no json' }))
  await answered(cable, ada.id)
  expect(cable.said().slice(1, -1)).toEqual([confirmed(identifier)])
  cable.socket.close()
})
