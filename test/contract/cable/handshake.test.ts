import { expect, inject, test } from 'vitest'
import { SUB_PROTOCOL } from '../../../src/domain/cable.ts'
import { openSocket } from '../../../testing/people/cable.ts'
import { openRawSocket, ownUpgrade, upgradeAnswer } from '../../../testing/people/cable-upgrade.ts'
import { Client, newPerson, waitFor } from '../../../testing/people/client.ts'

const url = inject('url')
const FOUND = { status: 101, protocol: SUB_PROTOCOL }
const NOT_FOUND = { status: 404, protocol: null }

test('sends welcome first, before the client sends anything', async () => {
  const ada = await newPerson(url)
  const cable = await openSocket(ada)
  await waitFor(async () => cable.frames.length)
  expect(cable.frames[0]).toBe('{"type":"welcome"}')
  expect(cable.socket.protocol).toBe(SUB_PROTOCOL)
  cable.socket.close()
  expect(await cable.closed()).toMatchObject({ code: 1000 })
})

const PROTOCOLS: [string, string | null, typeof FOUND | typeof NOT_FOUND][] = [
  ['the only one', SUB_PROTOCOL, FOUND],
  ['what the stock client offers', `${SUB_PROTOCOL}, actioncable-unsupported`, FOUND],
  ['in the middle, without spaces', `actioncable-v1-ext-json,${SUB_PROTOCOL},actioncable-v1-msgpack`, FOUND],
  ['last, after one that we do not speak', `actioncable-v1-msgpack ,  ${SUB_PROTOCOL}`, FOUND],
  ['none', null, NOT_FOUND],
  ['empty', '', NOT_FOUND],
  ['unsupported', 'actioncable-unsupported', NOT_FOUND],
  ['wrong case', 'ActionCable-v1-JSON', NOT_FOUND],
  ['another encoding', 'actioncable-v1-msgpack', NOT_FOUND],
  ['an extension of it', 'actioncable-v1-ext-json', NOT_FOUND],
  ['part of another name', `${SUB_PROTOCOL}x`, NOT_FOUND],
  ['not a list', `${SUB_PROTOCOL};q=1`, NOT_FOUND],
]

test('requires our sub-protocol, anywhere in the list', async () => {
  const ada = await newPerson(url)
  const { 'Sec-WebSocket-Protocol': _, ...rest } = ownUpgrade(ada)
  for (const [offer, protocols, answer] of PROTOCOLS) {
    const headers = { ...rest, ...(protocols === null ? {} : { 'Sec-WebSocket-Protocol': protocols }) }
    expect(await upgradeAnswer(ada, headers), offer).toEqual(answer)
  }
})

test('requires the site’s exact Origin', async () => {
  const ada = await newPerson(url)
  const own = ownUpgrade(ada)
  const { Origin: _, ...noOrigin } = own
  expect(await upgradeAnswer(ada, noOrigin)).toEqual(NOT_FOUND)
  const { host, port } = new URL(url)
  expect(await upgradeAnswer(ada, { ...own, Origin: `http://127.0.0.1:${port}` }), 'its other name').toEqual(FOUND)
  for (const Origin of [
    '',
    'null',
    'file://',
    'https://evil.example',
    `${url}.evil.example`,
    `http://evil.example?${url}`,
    `http://${host}@evil.example`,
    `http://evil.${host}`,
    url.replace('http', 'https'),
    url.toUpperCase(),
    `${url}/`,
    `http://localhost:${Number(port) + 1}`,
    'http://localhost',
    `${url}, https://evil.example`,
  ])
    expect(await upgradeAnswer(ada, { ...own, Origin }), Origin).toEqual(NOT_FOUND)
})

test('forwarded hosts allow no other Origin', async () => {
  const ada = await newPerson(url)
  const headers = { Origin: 'https://evil.example', 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Proto': 'https' }
  expect(await upgradeAnswer(ada, { ...ownUpgrade(ada), ...headers })).toEqual(NOT_FOUND)
})

test('answers 404 without an upgrade, and ignores a query string', async () => {
  const ada = await newPerson(url)
  expect((await ada.get('/cable')).status).toBe(404)
  expect(await upgradeAnswer(ada, ownUpgrade(ada), '/cable?jid=x')).toEqual(FOUND)
  expect(await upgradeAnswer(ada, ownUpgrade(ada), '/cables')).toEqual(NOT_FOUND)
})

test('refuses a bad Origin or sub-protocol even without a sign-in', async () => {
  const nobody = new Client(url)
  expect(await upgradeAnswer(nobody, { ...ownUpgrade(nobody), Origin: 'https://evil.example' })).toEqual(NOT_FOUND)
  expect(await upgradeAnswer(nobody, { ...ownUpgrade(nobody), 'Sec-WebSocket-Protocol': 'x' })).toEqual(NOT_FOUND)
})

test("answers a protocol ping with its payload, and a close with the client's code", async () => {
  const ada = await newPerson(url)
  const cable = await openRawSocket(ada)
  cable.write('ping', 'are you there')
  const pong = await waitFor(async () => cable.frames().find(({ opcode }) => opcode === 'pong'))
  expect(pong.payload.toString()).toBe('are you there')
  cable.write('close', Buffer.from([4_000 >> 8, 4_000 & 0xff, ...Buffer.from('bye')]))
  const close = await waitFor(async () => cable.frames().find(({ opcode }) => opcode === 'close'))
  expect(close.payload.readUInt16BE(0)).toBe(4_000)
  cable.end()
})
