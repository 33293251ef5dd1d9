import { expect, inject, test } from 'vitest'
import { type Client, newPerson } from '../../../testing/people/client.ts'
import { namesIn, upload } from '../../../testing/people/file-owner.ts'

const url = inject('url')

async function rename(person: Client, path: string, to: string): Promise<[number, string]> {
  const { status, body } = await person.request('POST', '/api/v1/files/moves', { path, to })
  return [status, body.error ?? body.message]
}

async function newFolder(person: Client, path: string): Promise<[number, string]> {
  const { status, body } = await person.request('POST', '/api/v1/files/folders', { path })
  return [status, body.error ?? body.message]
}

test('a new folder is empty, stays, and is nobody else’s name', async () => {
  const ada = await newPerson(url)
  expect(await newFolder(ada, 'runs/empty')).toEqual([201, 'Created runs/empty.'])
  expect(await namesIn(ada)).toEqual(['runs/'])
  expect(await namesIn(ada, 'runs')).toEqual(['empty/'])
  expect(await namesIn(ada, 'runs/empty')).toEqual([])
  await upload(ada, 'runs/a.txt')
  for (const taken of ['runs/empty', 'runs', 'runs/a.txt']) expect((await newFolder(ada, taken))[0], taken).toBe(409)
  for (const bad of ['', '..', '/a', 'a//b', 'a\u202etxt']) expect((await newFolder(ada, bad))[0], bad).toBe(422)
})

test('renames a file, and a folder with everything in it', async () => {
  const ada = await newPerson(url)
  await newFolder(ada, 'runs/empty')
  await upload(ada, 'runs/a.txt')
  await upload(ada, 'runs/2026/b.txt', 'inner')
  await upload(ada, 'runsaway.txt')
  expect(await rename(ada, 'runs/a.txt', 'runs/رحلة.txt')).toEqual([
    200,
    'Renamed runs/a.txt to \u2068runs/رحلة.txt\u2069.',
  ])
  expect(await rename(ada, 'runs', 'flights/all')).toEqual([200, 'Renamed runs to flights/all.'])
  expect(await namesIn(ada)).toEqual(['flights/', 'runsaway.txt'])
  expect(await namesIn(ada, 'flights/all')).toEqual(['2026/', 'empty/', 'رحلة.txt'])
  const { headers } = await ada.get('/api/v1/files/content?path=flights/all/2026/b.txt')
  expect(await (await fetch(headers.get('location') ?? '')).text()).toBe('inner')
})

test('refuses names that are taken, gone, impossible, or inside the folder itself', async () => {
  const ada = await newPerson(url)
  await upload(ada, 'a.txt')
  await upload(ada, 'runs/b.txt')
  expect(await rename(ada, 'a.txt', 'runs')).toEqual([
    409,
    'There is already something called runs. Choose another name.',
  ])
  expect((await rename(ada, 'a.txt', 'runs/b.txt'))[0]).toBe(409)
  expect((await rename(ada, 'none', 'b'))[0]).toBe(404)
  expect(await rename(ada, 'runs', 'runs/inner')).toEqual([422, "A folder can't move into itself."])
  expect(await rename(ada, 'a.txt', 'a.txt')).toEqual([422, 'That is already its name.'])
  for (const bad of ['', '../a', '/a', 'a\u0007']) expect((await rename(ada, 'a.txt', bad))[0], bad).toBe(422)
  expect((await rename(ada, '', 'b'))[0]).toBe(422)
  expect(await namesIn(ada)).toEqual(['runs/', 'a.txt'])
})

test('of two files renamed to one name at once, one keeps its own', async () => {
  const ada = await newPerson(url)
  await upload(ada, 'a.txt', 'from a')
  await upload(ada, 'b.txt', 'from b')
  const answers = await Promise.all([rename(ada, 'a.txt', 'c.txt'), rename(ada, 'b.txt', 'c.txt')])
  expect(answers.map(([status]) => status).toSorted()).toEqual([200, 409])
  const left = await namesIn(ada)
  expect(left).toHaveLength(2)
  expect(left).toContain('c.txt')
})

test("nobody renames somebody else's files", async () => {
  const [ada, eve] = [await newPerson(url), await newPerson(url)]
  await upload(ada, 'a.txt')
  expect((await rename(eve, 'a.txt', 'b.txt'))[0]).toBe(404)
  expect(await namesIn(ada)).toEqual(['a.txt'])
})
