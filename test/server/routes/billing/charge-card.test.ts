import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { users } from '../../../../db/schema/accounts.ts'
import { disputedMail } from '../../../../src/server/mail/charge-letters.ts'
import { openBillingSite } from '../../../../testing/stack/billing-site.ts'

const { site, post, get } = await openBillingSite()

test('the switch: a question, then on or off, each person their own, and in the download', async () => {
  const [ada, eve] = [await site.signInAs('user'), await site.signInAs('user')]
  for (const { userId } of [ada, eve])
    await site.db
      .update(users)
      .set({ stripeCustomerId: `cus_${userId}` })
      .where(eq(users.id, userId))
  const shown = async ({ cookie }: { cookie: string }) => {
    const texts = []
    for (const page of ['/settings/billing', '/billing_history']) {
      const html = (await (await get(page, cookie)).text()).replaceAll('<!-- -->', '')
      texts.push(/id="charge-usage">([^<]*)/.exec(html)?.[1])
      texts.push(
        [...html.matchAll(/<button[^>]* name="on"[^>]*>/g)].map(([tag]) => /value="(\d)"/.exec(tag)?.[1]).join(),
      )
    }
    return texts
  }
  const set = async (body: object) => {
    const answer = await post('/api/v1/billings/charge_card', ada.cookie, body)
    return { status: answer.status, body: await answer.json() }
  }
  const QUESTION = ['Charge my card for usage?', '1,0']
  const ON = ['Charge my card for usage: on', '0']
  const OFF = ['Charge my card for usage: off', '1']
  // The bills only ask.
  const NONE = [undefined, '']
  expect(await shown(ada)).toEqual([...QUESTION, ...QUESTION])
  expect(await set({ on: true })).toMatchObject({ status: 200, body: { charges_card: true } })
  expect(await shown(ada)).toEqual([...ON, ...NONE])
  expect(await set({ on: false })).toMatchObject({ status: 200, body: { charges_card: false } })
  expect(await shown(ada)).toEqual([...OFF, ...NONE])
  const [page = '', section] = disputedMail('').parts.flatMap((part) =>
    typeof part === 'object' && 'link' in part ? part.link.split('#') : [],
  )
  const linked = await (await get(page, ada.cookie)).text()
  expect(linked.slice(linked.indexOf(`id="${section}"`))).toContain('id="charge-usage"')
  expect(await set({ on: 'perhaps' })).toMatchObject({ status: 400 })
  expect(await shown(ada)).toEqual([...OFF, ...NONE])
  expect(await shown(eve)).toEqual([...QUESTION, ...QUESTION])
  const data = await (await get('/api/v1/users/export', ada.cookie)).json()
  expect(data.user).toMatchObject({
    charge_consent_at: expect.stringMatching(/^20/),
    charge_refused_at: expect.stringMatching(/^20/),
  })
})

test('nobody without a customer at Stripe is asked', async () => {
  const { cookie } = await site.signInAs('user')
  for (const page of ['/settings/billing', '/billing_history'])
    expect(await (await get(page, cookie)).text()).not.toContain('charge-usage')
})
