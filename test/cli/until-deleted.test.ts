import { expect, test, vi } from 'vitest'
import { untilDeleted } from '../../cli/src/files/list.ts'

const sleeps = vi.hoisted(() => ({ count: 0 }))
vi.mock('node:timers/promises', () => ({ setTimeout: async () => void sleeps.count++ }))

test('an upload waits ten minutes for a deletion, and then says so', async () => {
  const deleting = [{ path: 'runs/', files_left: 1 }]
  vi.stubGlobal('fetch', async () => Response.json({ path: 'runs/', folders: [], files: [], next: null, deleting }))
  const site = { url: 'https://site.example', token: 'pg_x' } as never
  await expect(untilDeleted(site, 'runs')).rejects.toThrow('We are still deleting runs/. Try again later.')
  expect(sleeps.count).toBe(300)
})
