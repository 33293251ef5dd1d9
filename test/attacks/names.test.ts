import { eq } from 'drizzle-orm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { users } from '../../db/schema/accounts.ts'
import { normalName, usableName } from '../../src/domain/person.ts'
import { readBootstrapUser } from '../../src/domain/user-state.ts'
import { openSite } from '../../testing/stack/site.ts'

const site = await openSite()
const NASTY = [
  '</script><script>alert(1)</script>',
  '<!--<script>',
  ']]>',
  '\u2028',
  '"><img src=x onerror=alert(1)>',
  '&lt;',
  '{{7*7}}',
  '‮gnp',
  '👩‍🚀',
  'Zoë',
  'ß',
  '\\u003c',
]

test('a name in any Unicode survives the page’s bootstrap block', async () => {
  const { userId, cookie } = await site.signInAs('user')
  const name = fc.oneof(fc.string({ unit: 'binary', maxLength: 40 }), fc.string({ unit: 'grapheme', maxLength: 40 }))
  const plain = await (await site.request('/account_overview', { headers: { Cookie: cookie } })).text()
  const scripts = plain.match(/<script\b/g)?.length
  await fc.assert(
    fc.asyncProperty(name, async (typed) => {
      const kept = normalName(typed)
      fc.pre(kept !== '' && usableName(typed))
      await site.db.update(users).set({ name: kept }).where(eq(users.id, userId))
      const html = await (await site.request('/account_overview', { headers: { Cookie: cookie } })).text()
      const block = /<script id="bootstrap" type="application\/json">([^<]*)<\/script>/.exec(html)?.[1]
      expect(readBootstrapUser(block)?.name).toBe(kept)
      expect(html.match(/<script\b/g)?.length).toBe(scripts)
      expect(html).not.toMatch(/<img|onerror=alert\(1\)>/)
    }),
    { numRuns: 50, examples: NASTY.map((text) => [text]) },
  )
})
