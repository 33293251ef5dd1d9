import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { last, leave, request, stay } from '../../src/islands/request.ts'

const meta = { content: 'first-token' }
const asked: { path: string; init: RequestInit }[] = []

function answerWith(answer: Response | Error) {
  vi.stubGlobal('fetch', async (path: string, init: RequestInit) => {
    asked.push({ path, init })
    if (answer instanceof Error) throw answer
    return answer
  })
}

beforeEach(() => {
  asked.length = 0
  meta.content = 'first-token'
  vi.stubGlobal('document', { querySelector: () => meta })
})
afterEach(() => vi.unstubAllGlobals())

test("returns the body's Body if there is one, and the body otherwise", async () => {
  answerWith(Response.json({ Body: { id: 'user_1' } }, { headers: { 'X-Instances': '7' } }))
  const { headers, ...answer } = await request('GET', '/x')
  expect(answer).toEqual({ ok: true, status: 200, body: { id: 'user_1' } })
  expect(headers?.get('X-Instances')).toBe('7')
  answerWith(Response.json({ Body: null, error: 'No.' }, { status: 401 }))
  expect(await request('GET', '/x')).toMatchObject({ ok: false, status: 401, body: { Body: null, error: 'No.' } })
})

test('never throws: not for a status, not for invalid JSON, not for a failing network', async () => {
  answerWith(new Response('<h1>', { status: 502, statusText: 'Bad Gateway' }))
  expect(await request('GET', '/x')).toMatchObject({ ok: false, status: 502, body: { error: 'HTTP 502 Bad Gateway' } })
  answerWith(new TypeError('fetch failed'))
  expect(await request('GET', '/x')).toMatchObject({ ok: false, status: 0, body: { error: 'Network error' } })
})

test('a change sends the page’s token, and the next one the token of the last answer', async () => {
  answerWith(Response.json({}, { headers: { 'X-CSRF-Token': 'second-token' } }))
  await request('PUT', '/users', { user: {} }, undefined, { flash: true })
  await request('DELETE', '/users/sign_out')
  expect(asked.map(({ init }) => init.headers)).toEqual([
    { Accept: 'application/json', 'Content-Type': 'application/json', 'X-CSRF-Token': 'first-token', 'X-Flash': '1' },
    { Accept: 'application/json', 'X-CSRF-Token': 'second-token' },
  ])
  expect(asked.every(({ init }) => init.credentials === 'same-origin')).toBe(true)
})

test('only a refusal of what was clicked sends its form again: not one after the change was answered', async () => {
  const submit = vi.fn()
  vi.stubGlobal('HTMLFormElement', { prototype: { submit } })
  vi.stubGlobal('addEventListener', () => {})
  const button = { type: 'submit', form: { getAttribute: () => 'post' }, getAttribute: () => null }
  const click = () => {
    last.click = { target: { closest: () => button }, timeStamp: performance.now() } as unknown as MouseEvent
  }
  meta.content = `${'m'.repeat(86)}user_1`
  const refuse = () => answerWith(Response.json({ code: 'unauthenticated', error: 'No.' }, { status: 401 }))
  click()
  answerWith(Response.json({}))
  await request('GET', '/lookup')
  await request('POST', '/change')
  refuse()
  expect(await request('GET', '/poll')).toMatchObject({ status: 401 })
  expect(submit).not.toHaveBeenCalled()
  click()
  refuse()
  void request('GET', '/lookup')
  await vi.waitFor(() => expect(submit).toHaveBeenCalledOnce())
})

test('reports nothing after the page is left, neither for earlier calls nor for new ones', async () => {
  vi.stubGlobal('fetch', async (_path: string, { signal }: RequestInit) => {
    signal?.throwIfAborted()
    await new Promise((_, fail) => signal?.addEventListener('abort', () => fail(signal.reason)))
  })
  let told = 0
  const tell = () => {
    told += 1
  }
  void request('GET', '/before').then(tell)
  leave()
  void request('GET', '/after').then(tell)
  await new Promise((soon) => setTimeout(soon, 20))
  expect(told).toBe(0)

  stay()
  answerWith(Response.json({}))
  expect(await request('GET', '/again')).toMatchObject({ ok: true })
})
