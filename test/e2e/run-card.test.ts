import { expect, test } from 'vitest'
import { axeFaults } from '../../testing/browser/axe.ts'
import { confirmStop, DESK, hold, openWithServer, PHONE, stackAndBrowser } from '../../testing/browser/e2e.ts'

const world = stackAndBrowser({ ec2BootMs: 1500 })

test.each([
  ['phone', PHONE],
  ['desktop', DESK],
] as const)('on a %s, the live server comes first, on the first screen, in every state', async (_, options) => {
  const boot = hold(world)
  const { page, card } = await openWithServer(world, options)
  await card.getByRole('heading', { name: 'Server starting' }).waitFor()
  await card.getByText('Startup is free.').waitFor()
  await card.getByRole('button', { name: 'Cancel' }).waitFor()

  boot.release()
  await card.getByRole('heading', { name: 'Server running' }).waitFor()
  await card.getByText('1 × L4, 16 CPU, 64 GB, us-east-1').waitFor()
  await card.getByText('free trial', { exact: true }).waitFor()
  await card.getByRole('definition').filter({ hasText: '$0.00' }).waitFor()
  await expect.poll(() => card.getByText(/^\d+s$/).textContent()).not.toBe('0s')
  const link = card.getByRole('link', { name: 'Open simulator' })
  expect(await link.getAttribute('href')).toMatch(/^http:\/\/127\.[\d.]+:5173$/)

  const [box, rail] = [await card.boundingBox(), await page.locator('.rail').boundingBox()]
  const bottom = options === PHONE ? (rail?.y ?? 0) : options.viewport.height
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(bottom)
  const others = page.locator('.dashboard > :is(.alert, .card):not(.run), .notices .alert')
  for (const other of await others.all()) expect((await other.boundingBox())?.y).toBeGreaterThan(box?.y ?? 0)
  expect(await axeFaults(page)).toEqual([])

  await page.getByRole('button', { name: /^Stop ses_/ }).click()
  await confirmStop(page)
  await page.getByText('stopped', { exact: true }).waitFor()
  expect(await card.count()).toBe(0)
  await page.context().close()
})

test('on touch, every button and the menu are at least 44 px high and wide', async () => {
  const { page, card } = await openWithServer(world, PHONE)
  await card.getByRole('link', { name: 'Open simulator' }).waitFor()
  const small = await page.locator('.btn:visible, .btn-close:visible, .theme button:visible').evaluateAll((all) =>
    all
      .filter((button) => !button.classList.contains('visually-hidden'))
      .map((button) => ({ name: button.textContent, ...button.getBoundingClientRect().toJSON() }))
      .filter(({ width, height }) => width < 44 || height < 44)
      .map(({ name, width, height }) => `${name}: ${width} × ${height}`),
  )
  expect(small).toEqual([])
  await page.context().close()
})

test.each([
  ['phone', PHONE],
  ['desktop', DESK],
] as const)('on a %s, the row of a run that has ended shows no button', async (_, options) => {
  const boot = hold(world)
  const { page, card } = await openWithServer(world, options)
  await card.getByRole('button', { name: 'Cancel' }).click()
  boot.release()
  const row = page.getByRole('row').filter({ hasText: 'stopped' })
  await row.waitFor()
  await row.scrollIntoViewIfNeeded()
  const onScreen = await row.locator('button').evaluateAll((buttons) =>
    buttons.filter((button) => {
      const { x, y, width, height } = button.getBoundingClientRect()
      return button.contains(document.elementFromPoint(x + width / 2, y + height / 2))
    }),
  )
  expect(onScreen).toEqual([])
  await page.context().close()
})

test('without scripts, the card shows the server as of the last load', async () => {
  const boot = hold(world)
  const { page, card } = await openWithServer(world, { javaScriptEnabled: false })
  await card.getByRole('heading', { name: 'Server starting' }).waitFor()
  boot.release()
  await expect
    .poll(async () => {
      await page.getByRole('button', { name: 'Refresh' }).click()
      return card.getByRole('heading').textContent()
    })
    .toBe('Server running')
  await card.getByText('1 × L4, 16 CPU, 64 GB').waitFor()
  const links = page.getByRole('link', { name: /^127\.|^Open simulator$/ })
  await expect
    .poll(async () => {
      await page.getByRole('button', { name: 'Refresh' }).click()
      return links.count()
    })
    .toBe(2)
  for (const link of await links.all()) expect(await link.getAttribute('href')).toMatch(/^http:\/\/127\..+:5173$/)
  await page.context().close()
})
