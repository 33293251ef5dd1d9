import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page, Request, Response } from 'playwright-core'
import { expect, test } from 'vitest'
import { axeFaults } from '../../testing/browser/axe.ts'
import { pageOf, stackAndBrowser, untilHydrated } from '../../testing/browser/e2e.ts'
import { type Client, newPerson } from '../../testing/people/client.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'

const world = stackAndBrowser()
const MIB = 1024 * 1024

async function put(person: Client, path: string, content: string | Buffer): Promise<void> {
  const size = Buffer.byteLength(content)
  const { body } = await person.post('/api/v1/files', { path, size })
  const { url, method, headers } = body.upload
  expect((await fetch(url, { method, headers, body: Uint8Array.from(Buffer.from(content)) })).status).toBe(200)
}

async function read(person: Client, path: string): Promise<Buffer> {
  const { headers } = await person.get(`/api/v1/files/content?path=${encodeURIComponent(path)}`)
  return Buffer.from(await (await fetch(headers.get('location') ?? '')).arrayBuffer())
}

async function openFiles(person: Client, options = {}): Promise<Page> {
  const page = await pageOf(world.browser, world.url, person as never, options)
  await page.goto(`${world.url}/files`)
  return page
}

const partOf = (request: Request) => new URL(request.url()).searchParams.get('partNumber') ?? 'whole'

const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })

test('uploads a folder over a line that breaks, continues after a reload, and downloads all of it', async () => {
  const ada = await newPerson(world.url)
  const root = temporaryFolder('proving-ground-files')
  const folder = join(root, 'flight')
  mkdirSync(join(folder, 'logs'), { recursive: true })
  const large = Buffer.alloc(50 * MIB, 'recording ')
  writeFileSync(join(folder, 'long.bag'), large)
  writeFileSync(join(folder, 'logs/رحلة.txt'), 'مرحبا')
  writeFileSync(join(folder, 'logs/<img src=x onerror=alert(1)>.txt'), '<b>bold</b>')

  const page = await openFiles(ada, { viewport: { width: 1280, height: 900 } })
  await untilHydrated(page)
  await page.getByText('No files yet.').waitFor()
  const dialogs: string[] = []
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.type())
    void dialog.accept()
  })

  // One part arrives, and then the line is dead.
  const arrived: string[] = []
  const bucket = new URL(world.stack.services.vars.FILES_ENDPOINT ?? '').origin
  await page.route(`${bucket}/**/long.bag*`, async (route) => {
    if (route.request().method() !== 'PUT') return route.continue()
    if (arrived.length > 0) return route.abort('connectionreset')
    arrived.push(partOf(route.request()))
    return route.continue()
  })
  const isPart = (response: Response) => response.ok() && response.url().includes('long.bag?')
  const onePart = page.waitForResponse((response) => response.request().method() === 'PUT' && isPart(response))
  await page.getByLabel('Upload folder').setInputFiles(folder)
  await onePart
  await page.getByRole('heading', { name: 'Connection lost.' }).waitFor()
  await page
    .getByRole('listitem')
    .filter({ hasText: 'flight/long.bag' })
    .getByText('Waiting for the connection')
    .waitFor()
  await page.getByRole('link', { name: 'flight', exact: true }).click()
  await page.getByRole('link', { name: 'logs', exact: true }).click()
  await row(page, 'رحلة.txt').waitFor()
  await row(page, '<img src=x onerror=alert(1)>.txt').waitFor()

  // Another day: the same file continues where it stopped. Until the page has left, it would use a working line.
  await page.goto(`${world.url}/files?path=flight`)
  await page.unroute(`${bucket}/**/long.bag*`)
  expect(dialogs).toContain('beforeunload')
  await page.getByText('Unfinished uploads (1)').click()
  await page.getByText('flight/long.bag').waitFor()
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.url().startsWith(bucket) && request.method() === 'PUT') sent.push(partOf(request))
  })
  await untilHydrated(page)
  await page.getByLabel('Upload files').setInputFiles(join(folder, 'long.bag'))
  await page.getByRole('heading', { name: 'Uploaded 1 file' }).waitFor()
  expect([...arrived, ...sent].sort()).toEqual(['1', '2', '3', '4'])
  await row(page, 'long.bag').getByText('52.4 MB').waitFor()
  expect((await read(ada, 'flight/long.bag')).equals(large)).toBe(true)

  // Delete, by keyboard and after a question.
  await put(ada, 'flight/short.bag', 'a')
  await page.goto(`${world.url}/files?path=flight/`)
  await untilHydrated(page)
  await page.getByRole('link', { name: 'Delete short.bag' }).press('Enter')
  const question = page.getByRole('dialog', { name: 'Delete short.bag?', exact: true })
  // A name runs its own way, and the question around it ours.
  expect(await question.locator('h2 bdi').innerText()).toBe('short.bag')
  await question.getByText('You can’t undo this.').waitFor()
  await question.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('Deleted flight/short.bag.').waitFor()
  await expect.poll(() => row(page, 'short.bag').count()).toBe(0)

  // All of it as one archive, written to where the person says.
  await page.evaluate(() => {
    const chunks: BlobPart[] = []
    const pick = async () => ({
      createWritable: async () =>
        new WritableStream({
          write: (chunk) => void chunks.push(chunk),
          close: () => void Object.assign(window, { archive: new Blob(chunks) }),
        }),
    })
    Object.assign(window, { showSaveFilePicker: pick })
  })
  await page.getByRole('button', { name: 'Download all' }).click()
  await page.getByText('Saved flight.zip.').waitFor()
  const [size, end] = await page.evaluate(async () => {
    const { archive } = window as unknown as { archive: Blob }
    return [archive.size, await archive.slice(-2000).text()] as const
  })
  expect(size).toBeGreaterThan(large.length)
  for (const name of ['long.bag', 'logs/رحلة.txt', 'logs/＜img src=x onerror=alert(1)＞.txt'])
    expect(end).toContain(name)
  await page.context().close()
})

test('shows images and text in place, and runs nothing that is in a file', async () => {
  const ada = await newPerson(world.url)
  const attack = '<script>document.title = "owned"</script><img src=x onerror="document.title=\'owned\'">'
  await put(ada, 'page.html', attack)
  await put(
    ada,
    'drawing.svg',
    `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>parent.document.title='owned'</script></svg>`,
  )
  await put(ada, 'long.log', 'x'.repeat(300 * 1024))
  await put(ada, 'binary.txt', Buffer.from([65, 0, 66]))
  const page = await openFiles(ada, { viewport: { width: 390, height: 800 } })
  await untilHydrated(page)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  expect(await axeFaults(page)).toEqual([])
  const preview = async (name: string) => {
    await page.getByRole('button', { name, exact: true }).click()
    return page.getByRole('dialog', { name })
  }
  const close = () => page.keyboard.press('Escape')

  const html = await preview('page.html')
  await html.getByText(attack).waitFor()
  expect(await axeFaults(page)).toEqual([])
  await close()
  const drawing = (await preview('drawing.svg')).getByRole('img', { name: 'drawing.svg' })
  await expect.poll(() => drawing.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(9)
  await close()
  const log = await preview('long.log')
  await log.getByText('The first 262.1 kB of 307.2 kB.').waitFor()
  expect((await log.locator('pre').textContent())?.length).toBe(256 * 1024)
  await close()
  await (await preview('binary.txt')).getByText('This file is not text.').waitFor()
  await close()
  // A phone shows no columns, and sorts all the same.
  await page.getByRole('button', { name: 'Size', exact: true }).click()
  expect(await page.locator('.files tbody th').first().innerText()).toBe('long.log')

  // Opened by its link, it is a download from another origin.
  const link = (await ada.get('/api/v1/files/content?path=page.html')).headers.get('location') ?? ''
  expect(new URL(link).origin).not.toBe(world.url)
  const opened = await fetch(link)
  expect(opened.headers.get('content-disposition')).toMatch(/^attachment/)
  expect(opened.headers.get('content-type')).not.toMatch(/html/)
  expect(await page.title()).toBe('Files · Proving Ground')
  await page.context().close()
})

test('takes what is dropped beside the list: a folder, a file, and an image out of another page', async () => {
  const ada = await newPerson(world.url)
  const root = temporaryFolder('proving-ground-dropped')
  mkdirSync(join(root, 'flight/logs'), { recursive: true })
  writeFileSync(join(root, 'flight/logs/a.txt'), 'a')
  writeFileSync(join(root, 'b.txt'), 'b')
  const page = await openFiles(ada, { viewport: { width: 1280, height: 900 } })
  await untilHydrated(page)
  await page.getByText('No files yet.').waitFor()

  const browser = await page.context().newCDPSession(page)
  const data = { items: [], files: [join(root, 'flight'), join(root, 'b.txt')], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await browser.send('Input.dispatchDragEvent', { type, x: 700, y: 780, data })
  await row(page, 'flight').waitFor()
  await row(page, 'b.txt').waitFor()
  expect(String(await read(ada, 'flight/logs/a.txt'))).toBe('a')

  await page.evaluate(() => {
    const dataTransfer = new DataTransfer()
    dataTransfer.items.add(new File(['c'], 'image.png'))
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }))
  })
  await row(page, 'image.png').waitFor()
  await page.context().close()
})

test('can add files again as soon as deleting has made room', async () => {
  const ada = await newPerson(world.url)
  await put(ada, 'runs/a.txt', 'a')
  const page = await openFiles(ada, {})
  await untilHydrated(page)
  await page.getByLabel('Upload files').waitFor()
  await page.route('**/api/v1/files?*', async (route) => {
    if (route.request().method() !== 'GET') return route.continue()
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), used_bytes: 1_000_000_000 } })
  })
  await page.getByRole('link', { name: 'runs', exact: true }).click()
  await page.getByText('Your files and uploads use everything your plan includes').waitFor()
  expect(await page.getByLabel('Upload files').count()).toBe(0)
  await page.unroute('**/api/v1/files?*')
  await page.getByRole('link', { name: 'Delete a.txt' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByLabel('Upload files').waitFor()
  expect(await page.getByText('Your files and uploads use everything your plan includes').count()).toBe(0)
  await page.context().close()
})

test('a folder that could not be read is not called empty', async () => {
  const ada = await newPerson(world.url)
  await put(ada, 'runs/a.txt', 'a')
  const page = await openFiles(ada, {})
  await untilHydrated(page)
  await page.route('**/api/v1/files?*', (route) => route.abort('connectionreset'))
  await page.getByRole('link', { name: 'runs', exact: true }).click()
  await page.getByText('Network error').waitFor()
  expect(await page.getByText(/No files yet|This folder is empty|0 items/).count()).toBe(0)
  await page.unroute('**/api/v1/files?*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await row(page, 'a.txt').waitFor()
  await page.context().close()
})

test('ten thousand names stay a hundred rows, and can be sorted and filtered', async () => {
  const ada = await newPerson(world.url)
  await put(ada, 'a.txt', 'a')
  const page = await pageOf(world.browser, world.url, ada)
  const modified_at = '2026-11-25T00:00:00.000Z'
  const many = Array.from({ length: 9_999 }, (_, i) => ({ name: `run ${i}.csv`, size: i, modified_at }))
  await page.route('**/api/v1/files?path=*', async (route) => {
    const from = Number(new URL(route.request().url()).searchParams.get('after') ?? 0)
    const next = from + 1000 < many.length ? String(from + 1000) : null
    const list = {
      path: 'many/',
      folders: [{ name: 'inner' }],
      files: many.slice(from, from + 1000),
      deleting: [],
      next,
    }
    await route.fulfill({ json: { ...list, folders: from ? [] : list.folders, used_bytes: 1, limit_bytes: null } })
  })
  await put(ada, 'many/inner/a.txt', 'a')
  await page.goto(`${world.url}/files`)
  await untilHydrated(page)
  await page.getByRole('link', { name: 'many', exact: true }).click()
  await page.getByText('1–100 of 10,000').waitFor()
  expect(await page.locator('.files tbody tr').count()).toBe(100)
  const first = () => page.locator('.files tbody th').nth(1).innerText()
  expect(await first()).toBe('run 0.csv')
  // The buttons are below a hundred rows; what they show begins above.
  await page.getByRole('button', { name: 'Next', exact: true }).click()
  await page.getByText('101–200 of 10,000').waitFor()
  const top = () => page.locator('.files tbody tr').first().boundingBox()
  await expect.poll(async () => (await top())?.y ?? -1).toBeGreaterThan(0)
  await page.getByRole('button', { name: 'Previous', exact: true }).click()
  await page.getByRole('button', { name: 'Size' }).click()
  expect(await first()).toBe('run 9998.csv')
  await page.getByLabel('Filter by name').fill('RUN 123')
  await page.getByText('11 items').waitFor()
  await page.getByRole('button', { name: 'Name', exact: true }).click()
  expect(await page.locator('.files tbody th').first().innerText()).toBe('run 123.csv')
  await page.context().close()
})

test('without script: uploads, downloads, and deletes files and folders', async () => {
  const ada = await newPerson(world.url)
  await put(ada, 'runs/a.txt', 'hello')
  const viewport = { width: 360, height: 740 }
  const page = await openFiles(ada, { javaScriptEnabled: false, acceptDownloads: true, viewport })
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360)
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  await page.getByRole('link', { name: 'runs', exact: true }).click()
  await page
    .getByLabel('File to upload')
    .setInputFiles({ name: 'ü.bin', mimeType: 'x/y', buffer: Buffer.from([0, 255, 1]) })
  await press('Upload')
  await page.getByText('Uploaded runs/ü.bin.').waitFor()
  expect([...(await read(ada, 'runs/ü.bin'))]).toEqual([0, 255, 1])
  const download = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download a.txt' }).click()
  expect((await download).suggestedFilename()).toBe('a.txt')
  await page.getByRole('link', { name: 'Delete a.txt' }).click()
  await page.getByText('You can’t undo this.').waitFor()
  await press('Delete')
  await page.getByText('Deleted runs/a.txt.').waitFor()
  await page.getByRole('link', { name: 'Files', exact: true }).first().click()
  await page.getByRole('link', { name: 'Delete folder runs' }).click()
  await page.getByText('It has 1 file, 3 bytes. You can’t undo this.').waitFor()
  await press('Delete')
  await page.getByText('Deleted runs/.').waitFor()
  await page.getByText('No files yet.').waitFor()
  await page
    .getByLabel('File to upload')
    .setInputFiles({ name: 'big.bin', mimeType: 'x/y', buffer: Buffer.alloc(10_000_001) })
  await press('Upload')
  await page.getByText('Without JavaScript, a file can have 10 MB.').waitFor()
  await page.context().close()
})
