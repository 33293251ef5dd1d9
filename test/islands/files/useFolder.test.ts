// @vitest-environment happy-dom
import { act } from 'react'
import { expect, test, vi } from 'vitest'
import { useFolder } from '../../../src/islands/files/useFolder.ts'
import { renderHook } from '../../../testing/browser/hooks.ts'

const PAGES = 30

/** A folder of 30 pages, `many/`; every other one has a single page. */
function site() {
  const list = (path: string, next: string | null) => ({
    ...{ path, folders: [], files: [], deleting: [], next, on_servers: 'none' as const },
    ...{ used_bytes: 0, limit_bytes: null, counted_at: null },
  })
  const fetch = vi.fn(async (path: string) => {
    const query = new URL(path, 'https://x.example').searchParams
    const page = Number(query.get('after') ?? 1)
    return Response.json(list(query.get('path') ?? '', query.get('path') && page < PAGES ? String(page + 1) : null))
  })
  vi.stubGlobal('fetch', fetch)
  return { fetch, first: list('', null) }
}

test('a folder of many pages is read again less often than one of few', async () => {
  const { fetch, first } = site()
  const { result } = await renderHook(() => useFolder(first, null), {})
  const few = result.current.pauseMs()
  await act(async () => result.current.open('many/'))
  await vi.waitFor(() => expect(fetch).toHaveBeenCalledTimes(PAGES))
  await vi.waitFor(() => expect(result.current.folder.loading).toBe(false))
  expect(result.current.pauseMs()).toBe(PAGES * few)
  await act(async () => result.current.open(''))
  expect(result.current.pauseMs()).toBe(few)
})

test('after Back, the page has the name of the folder it shows', async () => {
  const { first } = site()
  const { result } = await renderHook(() => useFolder(first, null), {})
  await act(async () => result.current.open('many/'))
  await vi.waitFor(() => expect(document.title).toContain('many'))
  history.replaceState(null, '', '/files')
  await act(async () => window.dispatchEvent(new Event('popstate')))
  expect(document.title).toContain('Files')
})
