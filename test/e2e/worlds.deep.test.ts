import { eq } from 'drizzle-orm'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { plans } from '../../db/schema/billing.ts'
import { environments, runs } from '../../db/schema/fleet.ts'
import { axeFaults } from '../../testing/browser/axe.ts'
import { complaintsOf, pageOf, SCRIPT_OR_NOT, stackAndBrowser, stopServer } from '../../testing/browser/e2e.ts'
import { newPerson, PASSWORD } from '../../testing/people/client.ts'
import { openTestDatabase } from '../../testing/stack/database.ts'

const world = stackAndBrowser()
const database = () => openTestDatabase(world.stack.services.vars.LIBSQL_URL ?? '')

const choice = (page: Page, group: string, name: string | RegExp) =>
  page.getByRole('group', { name: group }).getByRole('radio', { name })

test('on Basic, starts Mountains with a UGV, and sees both until a retirement takes the choice away', async () => {
  const ada = await newPerson(world.url)
  const db = database()
  await db.update(plans).set({ planType: 'basic', subType: 'paid' }).where(eq(plans.userId, ada.id))
  await db.insert(environments).values({
    id: 'env_harbor',
    name: 'Harbor',
    description: 'Ships.',
    plans: ['premium', 'enterprise'],
    position: 4,
    createdAt: 0,
  })
  const page = await pageOf(world.browser, world.url, ada, { viewport: { width: 360, height: 800 } })
  const complaints = complaintsOf(page)
  await page.goto(`${world.url}/dashboard`)
  expect(await choice(page, 'Environment', 'Blocks').isChecked()).toBe(true)
  expect(await choice(page, 'Environment', /^Harbor needs Premium$/).isDisabled()).toBe(true)
  expect(await choice(page, 'Vehicle', /^Multi-vehicle needs Premium$/).isDisabled()).toBe(true)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360)
  expect(await axeFaults(page)).toEqual([])

  // By keyboard: arrows move within a group and skip what is locked.
  await choice(page, 'Environment', 'Blocks').focus()
  await page.keyboard.press('ArrowLeft')
  expect(await choice(page, 'Environment', 'Mountains').isChecked()).toBe(true)
  await choice(page, 'Vehicle', 'UGV').check()
  await page.getByRole('button', { name: 'Start Server' }).click()
  const card = page.getByRole('region', { name: 'Server running' })
  await card.getByText('Mountains, UGV').waitFor()
  await page.getByRole('rowheader').getByText('Mountains, UGV').waitFor()

  const address = await card.getByRole('link', { name: 'Open simulator' }).getAttribute('href')
  expect(await (await fetch(address ?? '')).text()).toContain('Mountains, UGV')

  await stopServer(page, card)
  await page.reload()
  expect(await choice(page, 'Environment', 'Mountains').isChecked()).toBe(true)
  expect(await choice(page, 'Vehicle', 'UGV').isChecked()).toBe(true)
  await db.update(environments).set({ retiredAt: 1 }).where(eq(environments.name, 'Mountains'))
  await page.reload()
  expect(await choice(page, 'Environment', 'Blocks').isChecked()).toBe(true)
  await page.getByText("You can't start Mountains anymore, so we selected Blocks.").waitFor()
  await db.update(environments).set({ retiredAt: null })
  expect(complaints).toEqual([])
  await page.context().close()
})

test('without script, the choice travels with the form; a trial that asks for more is refused by name', async () => {
  const ada = await newPerson(world.url)
  const refused = await ada.post('/api/v1/aws/auto_cloud_start_request', { environment: 'Harbor' })
  expect([refused.status, refused.body.error]).toEqual([
    422,
    'Harbor needs Premium. The free trial includes Blocks, Neighborhood, and Mountains.',
  ])
  const page = await pageOf(world.browser, world.url, ada, { javaScriptEnabled: false })
  await page.goto(`${world.url}/dashboard`)
  await choice(page, 'Environment', 'Neighborhood').check()
  await choice(page, 'Vehicle', 'UGV').check()
  await page.getByRole('button', { name: 'Start Server' }).click()
  await page.getByRole('region', { name: 'Server starting' }).getByText('Neighborhood, UGV').waitFor()
  await page.context().close()
})

test('on Premium, an image of their own is added, chosen, started, and removed', async () => {
  const ada = await newPerson(world.url)
  await database().update(plans).set({ planType: 'premium', subType: 'paid' }).where(eq(plans.userId, ada.id))
  const page = await pageOf(world.browser, world.url, ada, { viewport: { width: 360, height: 800 } })
  const complaints = complaintsOf(page)
  await page.goto(`${world.url}/dashboard`)
  await page.getByRole('link', { name: 'Build Your Own' }).click()
  await page.getByText('No environments of your own yet.').waitFor()

  const add = async (name: string, image: string) => {
    if (!(await page.getByLabel('Image', { exact: true }).isVisible())) await page.getByText('New environment').click()
    await page.getByLabel('Name').fill(name)
    await page.getByLabel('Image', { exact: true }).fill(image)
    await page.getByRole('button', { name: 'Add environment' }).click()
  }
  await add('Shipyard', '169.254.169.254/shipyard')
  await page.locator('#image-error').getByText('This registry is not on the public Internet.').waitFor()
  expect(await page.getByLabel('Name').inputValue()).toBe('Shipyard')
  await add('Shipyard', `ghcr.io/ada/shipyard@sha256:${'a'.repeat(64)}`)
  await page.getByText('Environment added. Choose it beside Start Server.').waitFor()
  await page.getByText('The same image each time').waitFor()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360)
  expect(await axeFaults(page)).toEqual([])

  await page.goto(`${world.url}/dashboard`)
  await choice(page, 'Environment', 'Shipyard').check()
  await choice(page, 'Vehicle', 'Multi-vehicle').check()
  await page.getByRole('button', { name: 'Start Server' }).click()
  const card = page.getByRole('region', { name: 'Server running' })
  await card.getByText('Shipyard, Multi-vehicle').waitFor()
  const address = await card.getByRole('link', { name: 'Open simulator' }).getAttribute('href')
  const shown = await (await fetch(address ?? '')).text()
  expect(shown).toContain('Shipyard, Multi-vehicle')
  await page.goto(`${world.url}/servers`)
  await page.getByRole('table').getByText('Shipyard, Multi-vehicle').waitFor()
  await page.getByRole('link', { name: /^ses_/ }).click()
  await page.locator('.stats').getByText('Multi-vehicle').waitFor()

  // What runs keeps running without it, and nothing starts it again.
  await page.goto(`${world.url}/settings/servers`)
  await page.getByRole('button', { name: 'Remove Shipyard' }).click()
  await page.getByText('Environment removed.').waitFor()
  await page.goto(`${world.url}/dashboard`)
  await card.getByText('Shipyard, Multi-vehicle').waitFor()
  await stopServer(page, card)
  const again = await ada.post('/api/v1/aws/auto_cloud_start_request', { environment: 'Shipyard' })
  expect([again.status, again.body.server]).toEqual([422, null])
  expect(complaints).toEqual([])
  await page.context().close()
})

test.each(SCRIPT_OR_NOT)('%s, secrets are kept, and offered to an image of their own alone', async (_, options) => {
  const ada = await newPerson(world.url)
  const hasScript = options.javaScriptEnabled !== false
  await database().update(plans).set({ planType: 'premium', subType: 'paid' }).where(eq(plans.userId, ada.id))
  await ada.post('/api/v1/environments', { name: 'Harbor-own', image: 'example.com/harbor:1' })
  const page = await pageOf(world.browser, world.url, ada, { ...options, viewport: { width: 360, height: 800 } })
  const complaints = complaintsOf(page)
  await page.goto(`${world.url}/account_overview`)
  await page.getByRole('link', { name: 'Developers' }).click()
  await page.getByText('No secrets yet.').waitFor()
  const secrets = page.getByRole('region', { name: 'Secrets' })
  const save = async (name: string, value: string, password = PASSWORD) => {
    // A refused form is open already.
    if (!(await secrets.getByLabel('Value').isVisible())) await secrets.getByText('Add or replace a secret').click()
    await secrets.getByLabel('Name').fill(name)
    await secrets.getByLabel('Value').fill(value)
    await secrets.getByLabel('Current password').fill(password)
    await page.getByRole('button', { name: 'Save secret' }).click()
  }
  await save('LICENSE_KEY', 'canary-of-a-key', 'wrong')
  await page.getByText('Your current password is incorrect.').first().waitFor()
  expect(await secrets.getByLabel('Name').inputValue()).toBe('LICENSE_KEY')
  expect(await secrets.getByLabel('Value').inputValue()).toBe('')
  for (const name of ['LICENSE_KEY', 'TOKEN']) {
    await save(name, 'canary-of-a-key')
    await page.getByText('Secret saved.').waitFor()
  }
  expect(await page.content()).not.toContain('canary')
  if (hasScript) expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360)
  if (hasScript) expect(await axeFaults(page)).toEqual([])

  await page.goto(`${world.url}/dashboard`)
  const fold = page.locator('summary', { hasText: 'Secrets' })
  await choice(page, 'Environment', 'Mountains').check()
  await fold.waitFor({ state: 'hidden' })
  await choice(page, 'Environment', 'Harbor-own').check()
  await fold.click()
  await page.getByLabel('LICENSE_KEY').check()
  if (hasScript) expect(await axeFaults(page)).toEqual([])
  await page.getByRole('button', { name: 'Start Server' }).click()
  await page
    .getByRole('region', { name: /^Server (starting|running)/ })
    .getByText('Harbor-own')
    .waitFor()
  const named = async () => {
    const rows = await database().select().from(runs).where(eq(runs.userId, ada.id))
    return rows.map(({ secrets }) => secrets)
  }
  expect(await named()).toEqual([['LICENSE_KEY']])

  await page.goto(`${world.url}/settings/developers`)
  await page.getByRole('button', { name: 'Remove TOKEN' }).click()
  await page.getByText('Secret removed.').waitFor()
  expect(await page.getByRole('table').textContent()).not.toContain('TOKEN')
  expect(complaints).toEqual([])
  await page.context().close()
})
