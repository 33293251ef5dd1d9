import { expect, test } from 'vitest'
import { openSite } from '../../../../testing/stack/site.ts'

let sites = 0
const open = async (settings = {}) => {
  const origin = `http://security-${++sites}.test`
  const site = await openSite({ SITE_ORIGINS: `${origin},http://other.test`, ...settings })
  const get = async (path: string) => {
    const response = await site.request(path)
    return { headers: response.headers, text: (await response.text()).replaceAll('<!-- -->', '') }
  }
  return { origin, get }
}

test('security.txt says whom to write to, and never lapses', async () => {
  const { origin, get } = await open({ SECURITY_CONTACT: 'security@example.com' })
  const { text, headers } = await get('/.well-known/security.txt')
  expect(headers.get('Content-Type')).toMatch(/^text\/plain; charset=utf-8$/i)
  const fields = new Map(
    text
      .trim()
      .split('\n')
      .map((line) => line.split(': ') as [string, string]),
  )
  expect([...fields.keys()]).toEqual(['Contact', 'Expires', 'Preferred-Languages', 'Canonical', 'Policy'])
  expect(fields.get('Contact')).toBe('mailto:security@example.com')
  expect(fields.get('Canonical')).toBe(`${origin}/.well-known/security.txt`)
  expect(fields.get('Policy')).toBe(`${origin}/security#report`)
  expect((await get('/security')).text).toContain('id="report"')
  const days = (Date.parse(fields.get('Expires') ?? '') - Date.now()) / 86_400_000
  // Longer than anyone keeps the answer, and less than the year of RFC 9116.
  expect(days).toBeGreaterThan(80)
  expect(days).toBeLessThan(365)
})

test('without a contact, both name the help page', async () => {
  const { origin, get } = await open()
  expect((await get('/.well-known/security.txt')).text).toContain(`Contact: ${origin}/help\n`)
  expect((await get('/security')).text).toContain(`Report it at <a href="${origin}/help">${origin.slice(7)}/help</a>`)
})

test('a page of the operator may be the contact', async () => {
  const { get } = await open({ SECURITY_CONTACT: 'https://example.com/report' })
  expect((await get('/.well-known/security.txt')).text).toContain('Contact: https://example.com/report\n')
})

const BUCKET = { FILES_BUCKET: 'b', FILES_ACCESS_KEY_ID: 'k', FILES_SECRET_ACCESS_KEY: 's' }

test.each([
  [{}, [], ['Stripe', 'files', 'We last rehearsed']],
  [
    { PLANS_FOR_SALE: 'true', STRIPE_SECRET_KEY: 'sk_a', STRIPE_WEBHOOK_SECRET: 'whsec_a' },
    ['Stripe takes payments.'],
    [],
  ],
  [{ RESTORE_REHEARSED: '2026-11-20' }, ['We last rehearsed a restore on', 'Nov 20, 2026'], ['automated tests']],
  [
    { ...BUCKET, FILES_ENDPOINT: 'https://a.r2.cloudflarestorage.com' },
    ['delivers our emails. It also keeps customers’ files.', 'doesn’t cover your files'],
    ['A storage provider'],
  ],
  [
    { ...BUCKET, FILES_ENDPOINT: 'https://s3.us-east-1.amazonaws.com', FILES_STS_URL: 'https://sts.amazonaws.com' },
    ['runs the servers. It also keeps customers’ files.'],
    ['A storage provider'],
  ],
  [{ ...BUCKET, FILES_ENDPOINT: 'https://s3.example.com' }, ['A storage provider keeps'], ['It also keeps']],
])('says what is true with %o', async (settings, says, silent) => {
  const { text } = await (await open(settings)).get('/security')
  for (const one of says) expect(text).toContain(one)
  for (const one of silent) expect(text.replace(/<footer.*|<head>.*<\/head>/gs, '')).not.toContain(one)
})
