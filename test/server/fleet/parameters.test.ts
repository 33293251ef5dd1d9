import { expect, inject, test } from 'vitest'
import type { LogPart } from '../../../src/domain/run-log.ts'
import type { Server } from '../../../src/domain/wire/fleet.ts'
import { newPerson, waitFor } from '../../../testing/people/client.ts'
import { newPremiumPerson } from '../../../testing/people/premium.ts'

const url = inject('url')
const START = '/api/v1/aws/auto_cloud_start_request'
const parameters = { SCENARIO: 'harbor-fog', SEED: '42', TEXT: ' ä=<b> ' }

test('a run keeps its parameters: in its server, its page, its lists, and the form that starts it again', async () => {
  const ada = await newPerson(url)
  const started = await ada.post(START, { parameters })
  expect([started.status, started.body.server.parameters]).toEqual([202, parameters])
  const { id, server_id } = started.body.server as Server
  expect((await ada.get<{ server: Server }>(`/api/v1/servers/${id}`)).body.server.parameters).toEqual(parameters)
  expect((await ada.request('GET', '/servers.csv')).text).toContain('SEED=42')
  const list = async (q: string) => (await ada.request('GET', `/servers?q=${encodeURIComponent(q)}`)).text
  expect(await list('scenario=HARBOR')).toContain('<small>SCENARIO=harbor-fog, SEED=42, TEXT= ä=&lt;b&gt; </small>')
  expect(await list('SCENARIO=harbor-mist')).toContain('No servers match.')
  await ada.post('/api/v1/aws/stop_server', { server_id, session_id: id })
  await waitFor(async () => (await ada.get<{ server: Server }>(`/api/v1/servers/${id}`)).body.server.ended_because)
  const { text } = await ada.request('GET', `/servers/${id}`)
  expect(text).toMatch(/<code>SCENARIO<\/code>.*<code>harbor-fog<\/code>/s)
  expect(text).toContain('name="parameters" value="SCENARIO=harbor-fog\nSEED=42\nTEXT= ä=&lt;b&gt; "')
  // The next start begins with them.
  expect((await ada.request('GET', '/dashboard')).text).toMatch(
    /No secrets: [^<]*<textarea[^>]*spellCheck="false"[^>]*>SCENARIO=harbor-fog\nSEED=42/,
  )
  const eve = await newPerson(url)
  expect((await eve.get(`/api/v1/servers/${id}`)).status).toBe(404)
  expect((await eve.post(START)).body.server.parameters).toEqual({})
})

test('refuses what no container can be told, naming it, and starts nothing', async () => {
  const ada = await newPerson(url)
  for (const [sent, said] of [
    [{ path: '1' }, '"path"'],
    [{ constructor: 'x' }, '"constructor"'],
    [JSON.parse('{"__proto__": "x"}'), '"__proto__"'],
    [{ LD_PRELOAD: 'x' }, 'LD_PRELOAD'],
    [{ SEED: '1', PYTHONPATH: '/data' }, 'PYTHONPATH'],
    [{ NODE_OPTIONS: '--require=/data/x.js' }, 'NODE_OPTIONS'],
    [{ BASH_ENV: '/data/x.sh' }, 'BASH_ENV'],
    [{ A: 'a\nb' }, 'parameter A '],
    [{ A: 'x'.repeat(4_096) }, '4097 bytes'],
  ] as const) {
    const refused = await ada.post(START, { parameters: sent })
    expect([refused.status, refused.body.code, refused.body.error]).toEqual([
      422,
      'invalid',
      expect.stringContaining(said),
    ])
  }
  for (const sent of [{ A: 1 }, { A: null }, ['A=1'], 'A=1']) {
    expect((await ada.post(START, { parameters: sent })).status).toBe(400)
    expect((await ada.post('/api/v1/aws/start', { server_id: 'srv_1', parameters: sent })).status).toBe(400)
    expect((await ada.post('/api/v1/line', { max_gpus: 1, start: true, parameters: sent })).status).toBeOneOf([
      400, 404,
    ])
  }
  expect((await ada.get<{ servers: Server[] }>('/api/v1/servers/get_servers')).body.servers).toEqual([])
})

test('its program gets them, and nobody puts them into a tag', async () => {
  const person = await newPremiumPerson(url, inject('databaseUrl'))
  await person.post('/api/v1/environments', { name: 'Own', image: 'example.com/exits:0' })
  const { id } = (await person.post(START, { environment: 'Own', parameters })).body.server as Server
  const log = await waitFor(async () => {
    const part = (await person.get(`/api/v1/servers/${id}/log`)).body as unknown as LogPart
    return part.complete && part
  })
  const printed = log.lines.filter(({ source }) => source === 'stdout').map(({ text }) => text)
  expect(printed.slice(0, 4)).toEqual(['hello', 'SCENARIO=harbor-fog', 'SEED=42', 'TEXT= ä=<b> '])
})
