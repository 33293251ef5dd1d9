import { expect, test } from 'vitest'
import { listQuery, runsToCsv, toPageNumber, toRunFilter } from '../../src/domain/run-list.ts'
import type { Server } from '../../src/domain/wire.ts'

test('a filter that makes no sense filters nothing', () => {
  expect(toRunFilter({ q: ' a ', month: '2028-01', status: 'error' })).toEqual({
    q: 'a',
    month: '2028-01',
    status: 'error',
  })
  expect(toRunFilter({ month: '2028-13', status: 'gone' })).toEqual({ q: '', month: null, status: null })
  expect(toRunFilter({ q: 'x'.repeat(500) }).q).toHaveLength(100)
  expect(['1', '7', '0', '-1', '1.5', 'x', '', '9999999', undefined].map(toPageNumber)).toEqual([
    1, 7, 1, 1, 1, 1, 1, 1, 1,
  ])
})

test('a link keeps the filter', () => {
  expect(listQuery({ q: 'a&b', month: '2028-01', status: 'error' }, 3)).toBe(
    '?q=a%26b&month=2028-01&status=error&page=3',
  )
  expect(listQuery({ q: '', month: null, status: null }, 1)).toBe('')
})

test('no name becomes a formula or a second cell', () => {
  const server = {
    id: 'ses_1',
    name: '=1+1,"x"',
    requested_at: '2028-01-31T08:00:00.000Z',
    billed_from: '2028-01-31T08:01:00.000Z',
    end_time: null,
    cost_dollars: null,
    active: true,
    instance_type: 'g6.4xlarge',
    error_message: '-2',
  } as Server
  const [head, line] = runsToCsv([server], Date.UTC(2028, 0, 31, 8, 2), 'https://site.test').split('\r\n')
  expect(head).toMatch(/^"Session ID","Name","Status",/)
  expect(line).toContain(`"ses_1","'=1+1,""x""","running"`)
  expect(line).toContain('"60"')
  expect(line).toContain(`"'-2","https://site.test/servers/ses_1"`)
})
