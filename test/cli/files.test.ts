import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AwsV4Signer } from 'aws4fetch'
import { expect, inject, test } from 'vitest'
import type { FilesAccess } from '../../src/domain/wire.ts'
import { newOperator } from '../../testing/people/command-line.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'

const url = inject('url')

async function setup() {
  const ada = await newOperator(url)
  const here = temporaryFolder('cli-files')
  const write = (path: string, text: string | Buffer, age = 0) => {
    mkdirSync(join(here, path, '..'), { recursive: true })
    writeFileSync(join(here, path), text)
    const at = Date.now() / 1000 - age
    utimesSync(join(here, path), at, at)
  }
  const tree = (folder: string) =>
    readdirSync(join(here, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => statSync(join(here, folder, name)).isFile())
      .sort()
  return { ...ada, here, write, tree, read: (path: string) => readFileSync(join(here, path), 'utf8') }
}

test('puts, lists, gets, and removes files', async () => {
  const { run, here, write, read } = await setup()
  write('flight 1.csv', 'time,height\n')
  expect(await run(['files', 'put', join(here, 'flight 1.csv'), 'runs/'])).toMatchObject({
    code: 0,
    out: 'Uploaded 1 file.\n',
  })
  const listed = await run(['files', 'ls', 'runs'])
  expect(listed.out).toMatch(/^NAME +SIZE +MODIFIED\nflight 1.csv {2}12 bytes {2}\w/)
  expect(listed.err).toBe('You use 12 bytes of 1 GB.\n')
  expect((await run(['files', 'ls'])).out).toContain('runs/')
  expect(await run(['files', 'get', 'runs/flight 1.csv', join(here, 'back.csv')])).toMatchObject({ code: 0 })
  expect(read('back.csv')).toBe('time,height\n')
  expect(await run(['files', 'get', 'runs/', join(here, 'runs')])).toMatchObject({ out: 'Downloaded 1 file.\n' })
  expect((await run(['files', 'rm', 'runs/'])).out).toContain('Deleted runs/.')
  expect(await run(['files', 'get', 'runs', join(here, 'x')])).toMatchObject({
    code: 1,
    err: expect.stringContaining('There is no file or folder runs.'),
  })
})

test('syncs a folder both ways, and copies only what changed', async () => {
  const { run, here, write, read, tree } = await setup()
  write('out/a.txt', 'one', 60)
  write('out/b/é.txt', 'two', 60)
  const up = () => run(['files', 'sync', join(here, 'out'), 'files:jobs/', '--delete'])
  expect((await up()).out).toBe('Uploaded 2 files.\n')
  expect((await up()).out).toBe('Uploaded 0 files, 2 files unchanged.\n')
  const down = () => run(['files', 'sync', 'files:jobs/', join(here, 'in'), '--delete'])
  expect((await down()).out).toBe('Downloaded 2 files.\n')
  expect(tree('in')).toEqual(['a.txt', 'b/é.txt'])
  expect(read('in/b/é.txt')).toBe('two')
  expect((await down()).out).toBe('Downloaded 0 files, 2 files unchanged.\n')
  write('out/c.txt', 'three')
  write('out/a.txt', 'One')
  // Two uploads within a second are the same time to some file systems.
  write('in/a.txt', 'one', 60)
  unlinkSync(join(here, 'out/b/é.txt'))
  expect((await up()).out).toBe('Uploaded 2 files, 1 file deleted.\n')
  expect((await down()).out).toBe('Downloaded 2 files, 1 file deleted.\n')
  expect([tree('in'), read('in/a.txt')]).toEqual([['a.txt', 'c.txt'], 'One'])
  expect((await run(['files', 'sync', 'a', 'b'])).code).toBe(2)
})

test('sends a large file in parts, and continues where it was broken off', async () => {
  const { run, open, here, write, person } = await setup()
  const content = Buffer.alloc(40 * 1024 * 1024, 'proving ground ')
  write('big.bin', content, 60)
  const broken = open(['files', 'put', join(here, 'big.bin')])
  // Two of three parts are enough to have begun; whichever arrived is not sent again.
  await expect
    .poll(async () => (await person.get<{ uploads: unknown[] }>('/api/v1/files/uploads')).body.uploads.length)
    .toBe(1)
  broken.child.kill('SIGKILL')
  await broken.ended
  expect((await run(['files', 'put', join(here, 'big.bin')])).out).toBe('Uploaded 1 file.\n')
  expect((await person.get<{ uploads: unknown[] }>('/api/v1/files/uploads')).body.uploads).toEqual([])
  expect((await run(['files', 'get', 'big.bin', join(here, 'back.bin')])).code).toBe(0)
  expect(readFileSync(join(here, 'back.bin')).equals(content)).toBe(true)
})

test('continues a download that was broken off', async () => {
  const { run, here, write, person } = await setup()
  write('a.txt', 'hello world', 60)
  await run(['files', 'put', join(here, 'a.txt')])
  const [file] = (await person.get<{ files: { size: number; modified_at: string }[] }>('/api/v1/files')).body.files
  const version = createHash('sha256')
    .update(`11 ${Date.parse(file?.modified_at ?? '')}`)
    .digest('hex')
    .slice(0, 8)
  // The bytes that arrived are kept, so these, which never did, show that they were not fetched again.
  writeFileSync(join(here, `back.txt.${version}.part`), 'HELLO ')
  writeFileSync(join(here, 'back.txt.00000000.part'), 'of an older file')
  expect((await run(['files', 'get', 'a.txt', join(here, 'back.txt')])).code).toBe(0)
  expect(readFileSync(join(here, 'back.txt'), 'utf8')).toBe('HELLO world')
})

test('prints credentials for other programs, and refuses names that lead out of the folder', async () => {
  const { run, here } = await setup()
  const json = await run(['files', 'credentials', '--format', 'json'])
  const access = JSON.parse(json.out) as FilesAccess
  expect(access).toMatchObject({ mode: 'write', bucket: 'files', expires_at: expect.any(String) })
  expect(JSON.parse((await run(['files', 'credentials', '--read', '--format', 'json'])).out).mode).toBe('read')
  expect((await run(['files', 'credentials'])).out).toContain("export AWS_SESSION_TOKEN='")
  expect((await run(['files', 'credentials', '--format', 'rclone'])).out).toContain('type = s3')
  expect((await run(['files', 'credentials', '--format', 'aws'])).out).toContain('aws_session_token = ')
  // A program with credentials may write any key; a browser's URL would fold the dots away.
  const { url: to, headers } = await new AwsV4Signer({
    url: `${access.endpoint}/${access.bucket}/${access.prefix}x`,
    method: 'PUT',
    headers: { 'x-amz-security-token': access.session_token },
    accessKeyId: access.access_key_id,
    secretAccessKey: access.secret_access_key,
    region: access.region,
    service: 's3',
  }).sign()
  await fetch(to, { method: 'PUT', headers, body: 'fine' })
  expect((await run(['files', 'get', '', join(here, 'all')])).out).toBe('Downloaded 1 file.\n')
})

test('names from right to left take no words along', async () => {
  const { run } = await setup()
  const { code, err } = await run(['files', 'get', 'runs/طيران.csv'])
  expect(code).not.toBe(0)
  expect(err).toContain('\u2068runs/طيران.csv\u2069.')
})
