import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  confirmFrame,
  disconnectFrame,
  isOwnJobsChannel,
  isReadable,
  jobFrame,
  KEEPALIVE,
  KEEPALIVE_ANSWER,
  parseCommand,
  pingFrame,
  rejectFrame,
  SUB_PROTOCOL,
  welcomeFrame,
} from '../../src/domain/cable.ts'
import type { Job } from '../../src/domain/wire/fleet.ts'

const identifier = '{"channel":"JobsChannel","user_id":"user_1"}'

test('reads a subscription and keeps its identifier as spelled', () => {
  const odd = ' {"user_id" : "user_1","channel":"JobsChannel"}'
  expect(parseCommand(JSON.stringify({ command: 'subscribe', identifier: odd }))).toEqual({
    command: 'subscribe',
    identifier: odd,
  })
  expect(JSON.parse(confirmFrame(odd))).toEqual({ identifier: odd, type: 'confirm_subscription' })
  expect(isOwnJobsChannel(odd, 'user_1')).toBe(true)
  expect(parseCommand(JSON.stringify({ command: 'unsubscribe', identifier: odd, data: 1 }))).toEqual({
    command: 'unsubscribe',
    identifier: odd,
  })
})

test('the frames match those of Rails', () => {
  const identifier = '{"channel":"JobsChannel"}'
  expect(SUB_PROTOCOL).toBe('actioncable-v1-json')
  expect(welcomeFrame()).toBe('{"type":"welcome"}')
  expect(pingFrame(1_795_227_453_999)).toBe('{"type":"ping","message":1795227453}')
  expect(JSON.parse(rejectFrame(identifier))).toEqual({ identifier, type: 'reject_subscription' })
  const job = { id: 'job_1' } as Job
  expect(JSON.parse(jobFrame(identifier, job))).toEqual({ identifier, message: { event: 'job.updated', job } })
  expect(disconnectFrame('server_restart', true)).toBe(
    '{"type":"disconnect","reason":"server_restart","reconnect":true}',
  )
})

test('the keepalive our own pages send between pings is not a command', () => {
  expect([KEEPALIVE, KEEPALIVE_ANSWER]).toEqual(['{"command":"ping"}', '{"type":"ping"}'])
  expect(parseCommand(KEEPALIVE)).toBeNull()
})

test.each([
  '',
  'null',
  '[]',
  '"subscribe"',
  '{',
  '{}',
  '{"command":"ping"}',
  '{"command":"subscribe"}',
  '{"command":"subscribe","identifier":7}',
  '{"command":"subscribe","identifier":["{}"]}',
  '{"command":"subscribe","identifier":"7"}',
  '{"command":"subscribe","identifier":"null"}',
  JSON.stringify({ command: 'message', identifier, data: '{}' }),
  JSON.stringify({ command: 'Subscribe', identifier }),
  JSON.stringify({ command: 'subscribe', identifier: 'not json' }),
  JSON.stringify({ command: 'subscribe', identifier: '[]' }),
  JSON.stringify({ command: ['subscribe'], identifier }),
])('%s is not a command', (frame) => {
  expect(parseCommand(frame)).toBeNull()
})

test('any text is either read or refused, and never throws', () => {
  fc.assert(fc.property(fc.string(), (text) => void parseCommand(text)))
  fc.assert(fc.property(fc.json(), (text) => void parseCommand(text)))
  fc.assert(
    fc.property(fc.json(), (text) => {
      parseCommand(JSON.stringify({ command: 'subscribe', identifier: text }))
      expect(isOwnJobsChannel(text, 'user_1')).toBe(false)
    }),
  )
})

test.each([
  '{"channel":"JobsChannel"}',
  '{"channel":"JobsChannel","user_id":"user_2"}',
  '{"channel":"JobsChannel","user_id":["user_1"]}',
  '{"channel":"jobschannel","user_id":"user_1"}',
  '{"channel":"AdminChannel","user_id":"user_1"}',
  '{"channel":["JobsChannel"],"user_id":"user_1"}',
])('%s is not your own JobsChannel', (other) => {
  expect(isOwnJobsChannel(other, 'user_1')).toBe(false)
})

test('measures a frame in bytes', () => {
  expect(isReadable('x'.repeat(4_096))).toBe(true)
  expect(isReadable('x'.repeat(4_097))).toBe(false)
  expect(isReadable('é'.repeat(2_049))).toBe(false)
  expect(isReadable(new ArrayBuffer(4_096))).toBe(true)
  expect(isReadable(new ArrayBuffer(4_097))).toBe(false)
})

test('a closing socket says why, and tells the client not to reconnect', () => {
  expect(disconnectFrame('remote')).toBe('{"type":"disconnect","reason":"remote","reconnect":false}')
})
