import { expect, inject, test } from 'vitest'
import { axeFaults } from '../../testing/browser/axe.ts'
import { complaintsOf, ownBrowser, PHONE, pageOf } from '../../testing/browser/e2e.ts'
import { newPerson } from '../../testing/people/client.ts'
import { machinesOf } from '../../testing/people/machines.ts'
import { newPremiumPerson } from '../../testing/people/premium.ts'

const world = { url: inject('url'), databaseUrl: inject('databaseUrl'), browser: await ownBrowser() }

async function openLog(hash = '', options = {}) {
  const person = await newPerson(world.url)
  const machines = machinesOf(world.url, world.databaseUrl)
  const machine = await machines.startMachine(person)
  const next = await machines.nextOf(machine)
  const page = await pageOf(world.browser, world.url, person, options)
  const complaints = complaintsOf(page)
  await page.goto(`${world.url}/servers/${machine.id}${hash}`)
  const log = page.getByRole('region', { name: 'Log', exact: true })
  await log.getByText('Simulator ready on port 5173').waitFor()
  const print = (first: number, ...texts: string[]) =>
    machines.say(machine, { first, lines: texts.map((text) => ['stdout', text]) })
  return { person, page, log, machine, machines, next, print, complaints }
}

test('lines appear as the program prints them, with their colors, and nothing in them does harm', async () => {
  const { page, log, next, print, complaints } = await openLog()
  await print(next, '\u001b[31mred\u001b[0m', '<b onclick=alert(1)>bold</b>', 'a\u202eb', '\u001b[2Jcleared')
  await log.getByText('cleared').waitFor()
  expect(await log.locator('.fg-1').textContent()).toBe('red')
  await log.getByText('<b onclick=alert(1)>bold</b>').waitFor()
  await log.getByText('a[U+202E]b').waitFor()
  expect(await axeFaults(page)).toEqual([])
  expect(complaints).toEqual([])
  await page.context().close()
})

test('search shows the lines that have it, and a link leads to its line', async () => {
  const { page, log, machine, next, print } = await openLog()
  await print(next, ...Array.from({ length: 300 }, (_, i) => `step ${i}`))
  await log.getByText('step 299').waitFor()
  await log.getByRole('searchbox', { name: 'Search the log' }).fill('STEP 29')
  await log.getByText('11 lines').waitFor()
  expect(await log.locator('.log-line').count()).toBe(11)
  const link = await log.getByRole('link', { name: `Link to line ${next + 29}` }).getAttribute('href')
  await page.goto('about:blank')
  await page.goto(`${world.url}/servers/${machine.id}${link}`)
  await log.locator('.log-line[data-linked]').getByText('step 29', { exact: true }).waitFor()
  await expect(log.getByRole('checkbox', { name: 'Follow' }).isChecked()).resolves.toBe(false)
  await log.getByRole('button', { name: 'Jump to the end' }).click()
  await expect(log.getByRole('checkbox', { name: 'Follow' }).isChecked()).resolves.toBe(true)
  await page.context().close()
})

test('on a phone, a log is read, deleted, and gone', async () => {
  const { page, log, machine, person } = await openLog('', PHONE)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  await log.getByText('Delete the log').first().click()
  await log.getByRole('button', { name: 'Delete the log' }).click()
  await page.getByText('Log deleted. New lines are kept.').waitFor()
  await log.getByText('Nothing yet.').waitFor()
  expect((await person.get(`/api/v1/servers/${machine.id}/log`)).body).toMatchObject({ lines: [] })
  await page.context().close()
})

test('how busy the machine is stands on the page, with a table, and is told again while it runs', async () => {
  const { page, machine, machines, next, complaints } = await openLog()
  const use = { gpu_percent: 97, disk_bytes: 40_000_000_000, disk_total_bytes: 100_000_000_000 }
  const send = (more: object) => {
    const unknown = {
      gpu_memory_bytes: null,
      cpu_percent: null,
      memory_bytes: null,
      sent_bytes: null,
      received_bytes: null,
    }
    return machines.say(machine, { first: next, samples: [{ at: 1e14, ...unknown, ...use, ...more }] })
  }
  const lookAgain = () => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
  await send({})
  await lookAgain()
  const card = page.locator('#resources')
  await card.getByRole('img', { name: /^Disk in 1 hour: 4\d %/ }).waitFor()
  await card.getByText('Show as table').click()
  await card.getByRole('columnheader', { name: 'GPU memory' }).waitFor()
  expect(await axeFaults(page)).toEqual([])
  await send({ disk_bytes: 95_000_000_000 })
  await lookAgain()
  await card.getByText('95 %, 95 GB').waitFor()
  await card.getByRole('columnheader', { name: 'GPU memory' }).waitFor()
  await page.goto(`${world.url}/dashboard`)
  await page.getByText('Its disk is at least 90 % full.').waitFor()
  expect(complaints).toEqual([])
  await page.context().close()
})

test('while a server starts, its last line stands on the dashboard', async () => {
  const person = await newPremiumPerson(world.url, world.databaseUrl)
  // It never answers, and dies after some seconds.
  await person.post('/api/v1/environments', { name: 'Own', image: 'example.com/exits:3' })
  const page = await pageOf(world.browser, world.url, person)
  await page.goto(`${world.url}/dashboard`)
  await person.post('/api/v1/aws/auto_cloud_start_request', { environment: 'Own' })
  await page.locator('.last-line').getByText('hello').waitFor()
  expect(await axeFaults(page)).toEqual([])
  await page.context().close()
})
