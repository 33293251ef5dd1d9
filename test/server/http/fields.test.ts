import { expect, test } from 'vitest'
import { change, openPage, openSite } from '../../../testing/stack/site.ts'

const site = await openSite()

const BUDGET = '/api/v1/billings/budget'

test('JSON sends numbers and switches as such, and forms send texts', async () => {
  const { cookie, userId } = await site.signInAs('user')
  const send = async (body: object) => (await change(site, 'POST', BUDGET, cookie, body)).status
  expect(await send({ dollars: 20, stops: true })).toBe(200)
  expect(await send({ dollars: null })).toBe(200)
  for (const body of [{ dollars: '20' }, { dollars: '' }, { dollars: 20, stops: 'on' }, { dollars: 20, stops: 1 }, {}])
    expect([body, await send(body)]).toEqual([body, 400])

  const page = await openPage(site, cookie)
  const submit = async (fields: Record<string, string>) => {
    const form = new URLSearchParams({ authenticity_token: page.token, ...fields })
    const headers = {
      Cookie: page.cookie,
      'Sec-Fetch-Site': 'same-origin',
      'Content-Type': 'application/x-www-form-urlencoded',
    }
    const sent = await site.request(BUDGET, { method: 'POST', headers, body: form })
    expect(sent.status).toBe(303)
    const user = await site.findUser(userId)
    return [user?.budgetCents, user?.budgetStops]
  }
  expect(await submit({ dollars: '25', stops: 'on' })).toEqual([2500, true])
  expect(await submit({ dollars: '30' })).toEqual([3000, false])
  // The form comes back with its rule's sentence.
  expect(await submit({ dollars: 'many' })).toEqual([3000, false])
  expect(await submit({ dollars: '' })).toEqual([null, false])
})

test.each(['parameters', 'secrets[__proto__]'])('a form loses no name without a word: %s', async (field) => {
  const { cookie } = await site.signInAs('user')
  const page = await openPage(site, cookie)
  const body = new URLSearchParams({ authenticity_token: page.token, [field]: '__proto__=x' })
  if (field !== 'parameters') body.set(field, 'on')
  const headers = {
    Cookie: page.cookie,
    'Sec-Fetch-Site': 'same-origin',
    'Content-Type': 'application/x-www-form-urlencoded',
  }
  const sent = await site.request('/api/v1/aws/auto_cloud_start_request', { method: 'POST', headers, body })
  const message = sent.headers.getSetCookie().map((set) => set.split(';')[0])
  const shown = await site.request('/dashboard', { headers: { Cookie: [page.cookie, ...message].join('; ') } })
  expect(await shown.text()).toContain('&quot;__proto__&quot; can&#x27;t be a')
})
