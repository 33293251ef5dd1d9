// @vitest-environment happy-dom
import { afterEach, expect, test, vi } from 'vitest'
import { showPage } from '../../src/islands/page-dialog.ts'

afterEach(() => vi.unstubAllGlobals())

const html = (said: string) =>
  new Response(
    `<h1>Share</h1><div data-dialog><p>${said}</p><form method="post" action="/guests"><button>Make</button></form></div>`,
  )

test('of two clicks on a button in a dialog, one is sent, and the next after its answer', async () => {
  const answers: ((answer: Response) => void)[] = []
  const fetched = vi.fn(async (_: string, init?: RequestInit) =>
    init ? new Promise<Response>((resolve) => answers.push(resolve)) : html('Nobody'),
  )
  vi.stubGlobal('fetch', fetched)
  void showPage('http://localhost:3000/share')
  await vi.waitFor(() => expect(document.querySelector('dialog p')?.textContent).toBe('Nobody'))
  const click = () => document.querySelector<HTMLButtonElement>('dialog button')?.click()
  click()
  click()
  await vi.waitFor(() => expect(answers).toHaveLength(1))
  answers[0]?.(html('One'))
  await vi.waitFor(() => expect(document.querySelector('dialog p')?.textContent).toBe('One'))
  click()
  await vi.waitFor(() => expect(answers).toHaveLength(2))
})
