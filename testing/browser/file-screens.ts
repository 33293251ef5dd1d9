import type { Page } from 'playwright-core'
import type { FileUpload } from '../../src/domain/wire/files.ts'
import type { Screen } from './screen.ts'

const FILES = ['flights/2026-11/harbor.bag', 'flights/2026-11/رحلة.csv', 'models/rover.obj', 'report.txt']

const putFile = (page: Page, path: string) =>
  page.evaluate(async (path) => {
    const csrf = document.querySelector<HTMLMetaElement>('meta[name="csrf-token"]')?.content ?? ''
    const content = 'gate 1: 12.4 s\n'.repeat(200)
    const asked = await fetch('/api/v1/files', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': csrf },
      body: JSON.stringify({ path, size: content.length }),
    })
    const { url, method, headers } = ((await asked.json()) as { upload: FileUpload }).upload
    await fetch(url, { method, headers, body: content })
  }, path)

const chooseFiles = (page: Page) =>
  page
    .getByLabel('Upload files')
    .setInputFiles(['first.log', 'second.bag'].map((name) => ({ name, mimeType: '', buffer: Buffer.alloc(3e6) })))

/** Where the bucket never answers an upload (null), or with this status. */
const atBucket = (page: Page, of: (file: string) => number | null | 'continue') =>
  page.route(
    ({ origin }) => origin !== new URL(page.url()).origin,
    (route) => {
      const does = route.request().method() === 'PUT' ? of(route.request().url()) : 'continue'
      if (does === 'continue') return route.continue()
      if (does) return route.fulfill({ status: does, headers: { 'Access-Control-Allow-Origin': '*' } })
    },
  )

/** The page of someone's files, in every state that looks different. */
export const FILE_SCREENS: Screen[] = [
  { name: 'files-locked', path: '/files', as: 'newcomer' },
  { name: 'files-empty', path: '/files', as: 'buyer' },
  {
    name: 'files',
    path: '/files',
    as: 'customer',
    prepare: async (page) => {
      for (const path of FILES) await putFile(page, path)
      await page.reload()
      await page.getByRole('link', { name: 'flights', exact: true }).waitFor()
    },
  },
  {
    name: 'files-folder',
    path: '/files?path=flights%2F2026-11%2F',
    as: 'customer',
  },
  {
    name: 'files-uploading',
    path: '/files',
    as: 'customer',
    prepare: async (page) => {
      await atBucket(page, (file) => (file.includes('second') ? null : 'continue'))
      await chooseFiles(page)
      await page.getByText('first.log').waitFor()
      await page
        .getByText(/^Uploading/)
        .first()
        .waitFor()
    },
  },
  {
    name: 'files-failed',
    path: '/files',
    as: 'customer',
    complains: /403|net::ERR|CORS/,
    prepare: async (page) => {
      await atBucket(page, (file) => (file.includes('second') ? 403 : 'continue'))
      await chooseFiles(page)
      await page.getByRole('heading', { name: 'not uploaded' }).waitFor()
    },
  },
  {
    name: 'files-delete',
    path: '/files',
    as: 'customer',
    prepare: async (page) => {
      await putFile(page, 'flights/2026-11/harbor.bag')
      await page.reload()
      await page.locator('[data-hydrated]').first().waitFor()
      await page.getByRole('link', { name: 'Delete folder flights' }).click()
      await page.getByRole('dialog').waitFor()
    },
  },
  {
    name: 'files-preview',
    path: '/files',
    as: 'customer',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'report.txt', exact: true }).click()
      await page.getByRole('dialog').waitFor()
    },
  },
]
