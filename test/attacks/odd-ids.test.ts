import { expect, test } from 'vitest'
import { routes as table } from '../../src/server/app.ts'
import { issueToken } from '../../src/server/http/csrf-token.ts'
import { ownDatabase } from '../../testing/stack/own-database.ts'
import { BUCKET, openPage, openSite } from '../../testing/stack/site.ts'

/** What an ID in an address may hold that a header or the database can't. */
const NUL = '%00'
const ODD = ['%0a', '%E2%82%AC', '%ff', '%2500', '$&']

const site = await openSite(BUCKET, await ownDatabase())
const visitor = await openPage(site)
const routes = Object.keys(table.facts).map((route) => route.split(' ') as [method: string, path: string])

async function someone() {
  const admin = await site.signInAs('admin')
  const token = issueToken(site.env.SECRET_KEY, visitor.cookie.slice('browser='.length), admin.userId)
  const own = { 'Sec-Fetch-Site': 'same-origin', Accept: 'text/html', Cookie: `${visitor.cookie}; ${admin.cookie}` }
  return {
    get: (path: string) => site.request(path, { headers: own }),
    json: (method: string, path: string) =>
      site.request(path, {
        method,
        headers: { ...own, 'X-CSRF-Token': token, 'Content-Type': 'application/json' },
        body: '{}',
      }),
    form: (method: string, path: string, fields: Record<string, string> = {}) =>
      site.request(path, {
        method: 'POST',
        headers: { ...own, 'Content-Type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({
          ...fields,
          authenticity_token: token,
          ...(method === 'POST' ? {} : { _method: method.toLowerCase() }),
        }).toString(),
      }),
  }
}

test('a NUL in the ID of an address is an ID that does not exist', async () => {
  const admin = await someone()
  for (const [method, path] of routes.filter(([, path]) => path.includes(':'))) {
    for (const id of [NUL, `srv_x${NUL}y`]) {
      const odd = path.replace(/:\w+/g, id)
      const answers =
        method === 'GET' ? [await admin.get(odd)] : [await admin.json(method, odd), await admin.form(method, odd)]
      expect(
        answers.map(({ status }) => status),
        `${method} ${odd}`,
      ).toEqual(answers.map(() => 404))
      const form = answers[1]
      if (form) expect(form.headers.get('Content-Type'), `${method} ${odd}`).toContain('text/html')
    }
  }
})

test('a form to an odd ID is answered with an address that browsers take', async () => {
  const admin = await someone()
  for (const [method, path] of routes.filter(([method, path]) => method !== 'GET' && path.includes(':'))) {
    for (const id of ODD) {
      const odd = path.replace(/:\w+/g, id)
      const { status, headers } = await admin.form(method, odd)
      expect(status, `${method} ${odd}`).toBeLessThan(500)
      expect(headers.get('Location') ?? '/', `${method} ${odd}`).toMatch(/^\/[\x21-\x7e]*$/)
    }
  }
})

test('a NUL in a query or a field is no error of ours', async () => {
  const queries = 'id q month page status path after key of kind to code sort delete'.split(' ')
  const query = queries.map((name) => `${name}=${NUL}`).join('&')
  // The console asks EC2, which doesn't answer here.
  const pages = routes.filter(([method, path]) => method === 'GET' && !/:|instances/.test(path))
  for (const [, path] of pages) {
    const admin = await someone()
    expect((await admin.get(`${path}?${query}`)).status, path).toBeLessThan(500)
  }
  const names = 'server_id session_id id environment vehicle instance_id user_id name email path key code until'.split(
    ' ',
  )
  const fields = Object.fromEntries(
    names.flatMap((name) => [
      [name, '\0'],
      [`user[${name}]`, '\0'],
    ]),
  )
  for (const [method, path] of routes.filter(([method]) => method !== 'GET')) {
    const admin = await someone()
    expect((await admin.form(method, path.replace(/:\w+/g, 'x'), fields)).status, path).toBeLessThan(500)
  }
})
