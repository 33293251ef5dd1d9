import { expect, test, vi } from 'vitest'
import { openSite } from '../../../../testing/stack/site.ts'

test('the index is read once, and not for an empty search', async () => {
  const site = await openSite()
  const read = vi.spyOn(site.env.ASSETS, 'fetch')
  const search = async (words: string) => (await site.request(`/docs/search?q=${words}`)).text()
  expect(await search('')).toContain('Type what you are looking for.')
  expect(read).not.toHaveBeenCalled()
  for (const _ of [1, 2]) expect(await search('webhook')).toContain('href="/docs/events#webhooks"')
  expect(read).toHaveBeenCalledTimes(1)
})
