import { expect, test } from 'vitest'
import { checkForm } from '../../src/domain/form.ts'
import { linkQuery, runQuery, runsToCsv } from '../../src/domain/run-list.ts'
import type { Server } from '../../src/domain/wire/fleet.ts'

const read = (query: Record<string, string>) => checkForm(runQuery, query)

test('reads which runs a query wants', () => {
  expect(read({})).toEqual({ ok: true, value: { filter: { q: '', month: null, status: null }, page: 1 } })
  expect(read({ q: ' a ', month: '2028-01', status: 'error', page: '7', other: 'x' })).toEqual({
    ok: true,
    value: { filter: { q: 'a', month: '2028-01', status: 'error' }, page: 7 },
  })
  expect(read({ q: 'x'.repeat(100), month: '2028-12', page: '999999' }).ok).toBe(true)
})

test.each([
  ['q', ['x'.repeat(101)]],
  ['month', ['2026-13', '2026-00', '2026-1', '12/2026', '']],
  ['status', ['gone', 'Error', '']],
  ['page', ['abc', '0', '-1', '1.5', '1e3', '1000000', '']],
])('refuses a %s that makes no sense', (field, values) => {
  for (const value of values) expect(read({ [field]: value })).toMatchObject({ ok: false, faults: [{ field }] })
})

test('a link keeps the filter', () => {
  expect(linkQuery({ q: 'a&b', month: '2028-01', status: 'error' }, 3)).toBe(
    '?q=a%26b&month=2028-01&status=error&page=3',
  )
  expect(linkQuery({ q: '', month: null, status: null }, 1)).toBe('')
})

test('no name becomes a formula or a second cell', async () => {
  const server: Partial<Server> = {
    id: 'ses_1',
    name: '=1+1,"x"',
    requested_at: '2028-01-31T08:00:00.000Z',
    billed_from: '2028-01-31T08:01:00.000Z',
    end_time: null,
    cost_dollars: null,
    active: true,
    instance_type: 'g6.4xlarge',
    parameters: { A: '=1', B: '"' },
    error_message: '-2',
  }
  async function* pieces() {
    yield [server as Server]
    yield [{ ...server, id: 'ses_2' } as Server]
  }
  const parts: string[] = []
  for await (const part of runsToCsv(pieces(), Date.UTC(2028, 0, 31, 8, 2), 'https://site.test')) parts.push(part)
  const [head, line, other] = parts.join('').split('\r\n')
  expect(head).toMatch(/^\ufeff"Session ID","Name","Status",/)
  expect(line).toContain(`"ses_1","'=1+1,""x""","running"`)
  expect(line).toContain('"60"')
  expect(line).toContain('"A==1\nB="""')
  expect(line).toContain(`"'-2","https://site.test/servers/ses_1"`)
  expect(other).toContain('"ses_2"')
  expect(parts).toHaveLength(3)
})
