// @vitest-environment happy-dom
import { act } from 'react'
import { expect, test, vi } from 'vitest'
import { useUploads } from '../../../src/islands/files/useUploads.ts'
import { renderHook } from '../../../testing/browser/hooks.ts'

test('what is dropped goes into the folder that was open then, however long the browser lists it', async () => {
  vi.stubGlobal('fetch', () => new Promise(() => {}))
  const { promise, resolve } = Promise.withResolvers<File>()
  const entry = { fullPath: '/a.txt', isFile: true, file: (give: (file: File) => void) => void promise.then(give) }
  const hook = ({ path }: { path: string }) =>
    useUploads(
      path,
      () => {},
      () => 0,
    )
  const { result, rerender } = await renderHook(hook, { path: 'runs/' })
  result.current.drop({ items: [{ webkitGetAsEntry: () => entry }] } as unknown as DataTransfer)
  await rerender({ path: 'other/' })
  await act(async () => resolve(new File(['a'], 'a.txt')))
  expect(result.current.queue.seen().shown.map(({ path }) => path)).toEqual(['runs/a.txt'])
})
