import { expect, test } from 'vitest'
import { places, runs } from '../../../../db/schema/fleet.ts'
import { routes } from '../../../../src/server/app.ts'
import { newId } from '../../../../src/server/crypto/id.ts'
import type { Env } from '../../../../src/server/settings/env.ts'
import { BUCKET, openSite } from '../../../../testing/stack/site.ts'

/** Its own pages: the documentation describes the product, whatever a site has. */
const PAGES = Object.entries(routes.facts).flatMap(([route, { kind, ...facts }]) => {
  const path = route.replace(/^GET /, '')
  const isPage = route.startsWith('GET /') && kind === 'page' && !path.includes(':') && !('file' in facts)
  const isOpen = facts.access === 'public' || facts.access === 'guest'
  return isPage && !path.startsWith('/docs') && path !== '/files' ? [{ path, isOpen }] : []
})

let sites = 0

/** What each page says to an admin with a running server, or to another cookie's person. */
async function openPages(settings: Partial<Env>) {
  const site = await openSite({ SITE_ORIGINS: `http://no-${++sites}.test`, ...settings })
  const { userId, cookie } = await site.signInAs('admin')
  const [placeId, now] = [newId('srv'), Date.now()]
  const machine = { placeId, instanceType: 'g6', ipAddress: '127.0.0.1' }
  await site.db.insert(places).values({ id: placeId, instanceType: 'g6', availabilityZone: 'a', position: 0 })
  await site.db
    .insert(runs)
    .values({ ...machine, id: newId('ses'), userId, requestedAt: now, runningAt: now, billedFrom: now })
  return async (path: string, as = cookie) => {
    const html = await (await site.request(path, { headers: { Cookie: as } })).text()
    return html
      .replace(/<script.*?<\/script>/gs, '')
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
  }
}

test('without a bucket, no page speaks of files', async () => {
  const textOf = await openPages({})
  expect(PAGES.length).toBeGreaterThan(30)
  for (const { path, isOpen } of PAGES)
    expect(
      (await textOf(path, isOpen ? '' : undefined)).match(/.{0,60}(\bfiles\b|\/data\b).{0,60}/i)?.[0],
      path,
    ).toBeUndefined()
  expect(await textOf('/stop_server')).toContain('Stopping erases its disk. First download anything you want to keep.')
  expect(await textOf('/pricing')).toContain('Yes. We erase its disk')
})

test('where machines get them through the door alone, they do', async () => {
  const door = { DOOR_DOMAIN: 'doors.test', DOOR_ONLY: 'true', FLEET: {} as never }
  const textOf = await openPages({ ...BUCKET, ...door })
  const texts = {
    '/stop_server': 'Files in /data stay.',
    '/pricing': 'No. What is in /data on a server is in your files',
    '/privacy': 'Your files, and their names',
    '/terms_of_service': 'We keep your files while',
    '/close_account': 'We delete your files.',
    '/mails': 'When your files are almost full',
  }
  for (const [path, text] of Object.entries(texts)) expect(await textOf(path), path).toContain(text)
})

test('while machines get none, a stop erases everything', async () => {
  const textOf = await openPages(BUCKET)
  expect(await textOf('/stop_server')).toContain('Stopping erases its disk. First download anything you want to keep.')
  expect(await textOf('/pricing')).toContain('Yes. We erase its disk')
  expect(await textOf('/close_account')).toContain('We delete your files.')
})
