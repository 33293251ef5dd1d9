import { expect, test, vi } from 'vitest'

vi.mock('../../dev/stack.ts', () => ({ DIST: '/no/such/folder' }))

test('a clone that was never built starts without a complaint', async () => {
  const complaints = [vi.spyOn(console, 'error'), vi.spyOn(console, 'warn')]
  const { downloads } = await import('../../dev/downloads.ts')
  downloads()
  for (const complaint of complaints) expect(complaint).not.toHaveBeenCalled()
})
