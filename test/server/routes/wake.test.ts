import { expect, inject, test } from 'vitest'

const url = inject('url')

test('the frame of a page is its own, may be kept for good, and nobody else may frame it', async () => {
  const page = await (await fetch(`${url}/pricing`)).text()
  const [, address = ''] = page.match(/<iframe [^>]*src="([^"]+)"/) ?? []
  const frame = await fetch(url + address)
  expect(frame.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(frame.headers.get('content-security-policy')).toContain("frame-ancestors 'self'")
  expect(frame.headers.get('x-frame-options')).toBe('SAMEORIGIN')
  const [, script = ''] = (await frame.text()).match(/<script type="module" src="([^"]+)"/) ?? []
  const [, ofPage = ''] = address.split('#')
  expect(address).toBe(`/wake?${script}#${ofPage}`)
  for (const file of [script, ofPage])
    expect((await fetch(url + file)).headers.get('content-type')).toMatch(/javascript/)
})

test('what is said in its address does not get into it', async () => {
  const frame = await (await fetch(`${url}/wake?https://other.site/x.js`)).text()
  expect(frame).not.toContain('other.site')
})
