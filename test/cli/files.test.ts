import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { AwsClient } from 'aws4fetch'
import { expect, inject, test } from 'vitest'
import type { FileList, FilesAccess } from '../../src/domain/wire/files.ts'
import { type Client, waitFor } from '../../testing/people/client.ts'
import { newComputer, newOperator } from '../../testing/people/command-line.ts'
import { openLine } from '../../testing/people/open-line.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'
import { recordingRclone } from '../../testing/stack/recording-rclone.ts'

const url = inject('url')

async function setup(fake: Parameters<typeof recordingRclone>[0] = {}) {
  const ada = await newOperator(url)
  const here = temporaryFolder('cli-files')
  const rclone = recordingRclone(fake)
  const files = (...args: string[]) => ada.run(['files', ...args], '', { PATH: rclone.PATH })
  return { ...ada, files, here, rclone }
}

async function upload(person: Client, path: string, content: string): Promise<void> {
  const { body } = await person.post('/api/v1/files', { path, size: Buffer.byteLength(content) })
  const { url: to, method, headers } = body.upload
  expect((await fetch(to, { method, headers, body: content })).status).toBe(200)
}

async function writeMarker(person: Client, path: string): Promise<void> {
  const { credentials } = (
    await person.post<{ credentials: FilesAccess }>('/api/v1/files/credentials', { mode: 'write' })
  ).body
  const { access_key_id, secret_access_key, session_token, endpoint, region, bucket, prefix } = credentials
  const program = new AwsClient({
    accessKeyId: access_key_id,
    secretAccessKey: secret_access_key,
    sessionToken: session_token,
    service: 's3',
    region,
  })
  const { status } = await program.fetch(`${endpoint}/${bucket}/${prefix}${path}`, { method: 'PUT', body: '' })
  expect(status).toBe(200)
}

test('takes no path with a folder that has no name: rclone would use a different one', async () => {
  const { files, here, rclone } = await setup()
  for (const path of ['a//', '/', '//b', 'a//b'])
    expect(await files('sync', here, `files:${path}`, '--delete')).toMatchObject({
      code: 2,
      err: expect.stringContaining('has a folder without a name'),
    })
  expect(existsSync(rclone.record)).toBe(false)
})

test('lists a folder or a file, and removes them', async () => {
  const { run, person } = await setup()
  await upload(person, 'runs/flight 1.csv', 'time,height\n')
  const listed = await run(['files', 'ls', 'runs'])
  expect(listed.out).toMatch(/^NAME +SIZE +MODIFIED\nflight 1.csv {2}12 bytes {2}\w/)
  expect(listed.err).toBe('You use 12 bytes of 1 GB.\n')
  expect((await run(['files', 'ls'])).out).toContain('runs/')
  expect((await run(['files', 'ls', 'runs/flight 1.csv'])).out).toContain('flight 1.csv  12 bytes')
  expect(await run(['files', 'ls', 'runs/flight 1.csv/'])).toMatchObject({ code: 2 })
  const json = JSON.parse((await run(['files', 'ls', 'runs', '--json'])).out) as FileList
  expect(json).toMatchObject({ path: 'runs', files: [{ name: 'flight 1.csv', size: 12 }] })
  expect((await run(['files', 'rm', 'runs/'])).out).toContain('Deleted runs/.')
  expect(await run(['files', 'ls'])).toMatchObject({ code: 0, out: '', err: expect.stringContaining('No files here') })
})

test('says which file or folder is not there', async () => {
  const { files, here, rclone } = await setup()
  const missing = (name: string) => ({ code: 2, err: `error: There is no file or folder ${name}.\n` })
  expect(await files('ls', 'nope')).toMatchObject(missing('nope'))
  expect(await files('get', 'nope', here)).toMatchObject(missing('nope'))
  expect(await files('put', join(here, 'nope'))).toMatchObject(missing(join(here, 'nope')))
  expect(await files('get', 'runs/طيران.csv')).toMatchObject(missing('\u2068runs/طيران.csv\u2069'))
  expect(await files('sync', join(here, 'nope'), 'files:x')).toMatchObject({ code: 2 })
  expect(await files('sync', 'a', 'b')).toMatchObject({ code: 2 })
  expect(await files('get', 'a/../b')).toMatchObject({ code: 2 })
  expect(existsSync(rclone.record)).toBe(false)
})

test('puts no file where a folder is, and no folder where a file is', async () => {
  const { files, here, person, rclone } = await setup()
  await upload(person, 'runs/a.txt', 'a')
  await upload(person, 'x', 'x')
  mkdirSync(join(here, 'folder'))
  writeFileSync(join(here, 'file'), 'file')
  const [folder, file] = [join(here, 'folder'), join(here, 'file')]
  expect(await files('put', file, 'runs')).toEqual({
    code: 2,
    out: '',
    err: 'error: runs/ is a folder. To put the file into it, write runs/\n',
  })
  for (const words of [
    ['put', folder, 'x'],
    ['put', folder, 'x/y/z'],
    ['put', file, 'x/y'],
    ['sync', folder, 'files:x'],
  ])
    expect(await files(...words), words.join(' ')).toMatchObject({
      code: 2,
      err: expect.stringContaining(' x is a file'),
    })
  expect(existsSync(rclone.record)).toBe(false)
  for (const words of [
    ['put', file, 'runs/'],
    ['put', file, 'x'],
    ['put', folder, 'runs'],
    ['put', folder, 'xx/y'],
  ])
    expect(await files(...words), words.join(' ')).toMatchObject({ code: 0 })
})

test('puts no file where an empty folder is, as /data makes one', async () => {
  const { files, here, person, rclone } = await setup()
  writeFileSync(join(here, 'file'), 'file')
  await writeMarker(person, 'runs/empty/')
  const put = () => files('put', join(here, 'file'), 'runs/empty')
  expect(await put()).toMatchObject({ code: 2, err: expect.stringContaining('runs/empty/ is a folder.') })
  expect(existsSync(rclone.record)).toBe(false)
  await person.request('DELETE', '/api/v1/files?path=runs/empty/')
  expect(await put()).toMatchObject({ code: 0 })
})

test('renews credentials without rclone ever reading half of them', async () => {
  const compare = `
if (process.argv[2] === 'rc') process.exit(0)
const { openSync } = require('node:fs')
const read = () => readFileSync('proving-ground.mjs', 'utf8')
const begun = openSync('proving-ground.mjs')
const first = read()
while (read() === first || read() === '') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
if (readFileSync(begun, 'utf8') !== first) process.exit(1)`
  const { run, here, rclone } = await setup({ ends: compare })
  writeFileSync(join(here, 'a.txt'), 'a')
  // Due at once, and then in an hour.
  let seconds = 60
  const line = await openLine(url, {
    rewrite: (path, text) => {
      if (!path.endsWith('/credentials')) return text
      const end = new Date(Date.now() + seconds * 1000).toISOString()
      seconds = 3600
      return text.replace(/("expires_at":")[^"]+/, `$1${end}`)
    },
  })
  const more = { PATH: rclone.PATH, PROVING_GROUND_URL: line.url }
  expect(await run(['files', 'put', join(here, 'a.txt')], '', more)).toMatchObject({ code: 0, err: '' })
  line.close()
})

test('deletes nothing, and says why, where rclone cannot list the source', async () => {
  const lists = `console.error('{"level":"error","msg":"error listing: refused"}'); process.exit(3)`
  const { files, here, person, rclone } = await setup({ lists })
  await upload(person, 'runs/a.txt', 'a')
  expect(await files('sync', 'files:runs', join(here, 'keep'), '--delete')).toEqual({
    code: 1,
    out: '',
    err: 'rclone: error listing: refused\nerror: rclone failed. Run it again to copy the remaining files.\n',
  })
  expect(existsSync(rclone.record)).toBe(false)
})

test('deletes nothing where rclone sees only a part of the source, as when a proxy ends its list', async () => {
  const { files, here, person, rclone } = await setup({ extra: ['gone.txt', 'a/b.txt'] })
  await upload(person, 'runs/a/b.txt', 'hello')
  const sync = () => files('sync', 'files:runs', join(here, 'keep'), '--delete')
  expect(await sync()).toEqual({
    code: 1,
    out: '',
    err: "error: rclone can't see all of files:runs/. Nothing was deleted. Try again.\n",
  })
  expect(rclone.recorded().verbs).toEqual(['copy'])
  await upload(person, 'runs/a/c.txt', 'hello')
  await person.request('DELETE', '/api/v1/files?path=runs/a/b.txt')
  expect(await sync()).toMatchObject({ code: 0, out: 'Downloaded 3 files, 1 file deleted.\n' })
  await person.request('DELETE', '/api/v1/files?path=runs/a/c.txt')
  expect(await files('sync', 'files:', join(here, 'keep'), '--delete')).toMatchObject({ code: 2, out: '' })
})

test('deletes what the site lacks, and nothing that only a part of a name names', async () => {
  const extra = ['b.txt', 'gone/c.txt', 'two\nlines', 'cr\r']
  const { files, here, person, rclone } = await setup({ extra })
  await upload(person, 'runs/a.txt', 'a')
  expect(await files('sync', 'files:runs', join(here, 'keep'), '--delete')).toMatchObject({ code: 0 })
  const { args, names, verbs } = rclone.recorded()
  expect([verbs, args[0], args[2], names]).toEqual([['copy', 'sync'], 'sync', join(here, 'keep'), 'b.txt\ngone/c.txt'])
  // Only rclone's own folder, which is empty, may be its source.
  expect(args[1]).toMatch(/\/proving-ground-\w+\/none$/)
})

test('keeps no file that was replaced while it was copied, since it may have parts of both', async () => {
  const newer = `console.log('a;4;same.bin'); console.log(process.hrtime.bigint() + ';4;a;b.bin')`
  const { files, here, person, rclone } = await setup({ lists: newer })
  await upload(person, 'runs/a;b.bin', 'a')
  const refused = { code: 1, out: '', err: 'error: Changed while it was copied: a;b.bin. Run it again.\n' }
  expect(await files('get', 'runs/a;b.bin', join(here, 'x'))).toEqual(refused)
  const { args, verbs } = rclone.recorded()
  expect([verbs, args[1]]).toEqual([['copyto', 'deletefile'], join(here, 'x')])
  rmSync(rclone.record)
  expect(await files('sync', 'files:runs', join(here, 'x'), '--delete')).toEqual(refused)
  expect(rclone.recorded()).toMatchObject({ verbs: ['copy', 'sync'], names: 'a;b.bin' })
})

test('reads a name whole that comes from rclone in two pieces', async () => {
  const newer = `const { writeSync } = require('node:fs')
writeSync(1, Buffer.from(process.hrtime.bigint() + ';4;ü.bin').subarray(0, -5))
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
writeSync(1, Buffer.from('ü.bin').subarray(1))`
  const { files, here, person } = await setup({ lists: newer })
  await upload(person, 'runs/ü.bin', 'a')
  expect(await files('get', 'runs', join(here, 'x'))).toMatchObject({
    code: 1,
    err: expect.stringMatching(/: ü\.bin\./),
  })
})

test('keeps a file of the folder that was replaced on the site but not copied, since it is whole', async () => {
  const newer = `console.log(process.hrtime.bigint() + ';4;a.bin')`
  const { files, run, here, person, rclone } = await setup({ lists: newer })
  await upload(person, 'runs/a.bin', 'a')
  mkdirSync(join(here, 'x'))
  writeFileSync(join(here, 'x/a.bin'), 'a')
  expect(await files('get', 'runs', join(here, 'x'))).toMatchObject({ code: 0, out: 'Downloaded 3 files.\n' })
  expect(rclone.recorded().verbs).toEqual(['copy'])
  const ends = `writeFileSync(args[2] + '/a.bin', 'ab')`
  const copying = recordingRclone({ lists: newer, ends })
  expect(await run(['files', 'get', 'runs', join(here, 'x')], '', { PATH: copying.PATH })).toMatchObject({
    code: 1,
    err: 'error: Changed while it was copied: a.bin. Run it again.\n',
  })
  expect(copying.recorded()).toMatchObject({ verbs: ['copy', 'sync'], names: 'a.bin' })
})

test('gets nothing in place of a pipe or a device, such as /dev/null', async () => {
  const { files, here, person, rclone } = await setup()
  await upload(person, 'a.txt', 'a')
  execFileSync('mkfifo', [join(here, 'pipe')])
  expect(await files('get', 'a.txt', join(here, 'pipe'))).toMatchObject({
    code: 2,
    err: `error: ${join(here, 'pipe')} is neither a file nor a folder.\n`,
  })
  expect(existsSync(rclone.record)).toBe(false)
})

test('keeps a copy whose original is gone, or that it didn’t make', async () => {
  const gone = `const { appendFileSync: add } = require('node:fs'); add(process.argv[1] + '.n', '.')
if (readFileSync(process.argv[1] + '.n', 'utf8') === '.') console.log('a;4;a.bin')`
  const newer = `console.log(process.hrtime.bigint() + ';4;a.bin')`
  for (const fake of [{ lists: gone }, { lists: newer, copies: 0 }]) {
    const { files, here, person, rclone } = await setup(fake)
    await upload(person, 'runs/a.bin', 'a')
    expect(await files('get', 'runs/a.bin', join(here, 'x'))).toMatchObject({ code: 0 })
    expect(rclone.recorded().verbs).toEqual(['copyto'])
  }
})

test('uploads with a folder nothing that a killed download left there', async () => {
  const { files, here, person, rclone } = await setup()
  mkdirSync(join(here, 'runs'))
  writeFileSync(join(here, 'runs/a.txt.0a1b2c3d.pg-4e5f.partial'), 'a')
  const args = async (...words: string[]) => {
    expect(await files(...words)).toMatchObject({ code: 0 })
    return rclone.recorded().args.join(' ')
  }
  const exclude = '--exclude *.????????.pg-????.partial'
  expect(await args('put', join(here, 'runs'))).toContain(exclude)
  await upload(person, 'runs/a.txt', 'a')
  expect(await args('get', 'runs', join(here, 'got'))).not.toContain(exclude)
  // With nothing else there, the folder counts as empty. A name that only ends like that is a file's.
  writeFileSync(join(here, 'runs/a.pg-2024.partial'), 'a')
  expect(await files('sync', join(here, 'runs'), 'files:runs', '--delete')).toMatchObject({ code: 0 })
  rmSync(join(here, 'runs/a.pg-2024.partial'))
  expect(await files('sync', join(here, 'runs'), 'files:runs', '--delete')).toMatchObject({ code: 2 })
  // A single file that they name is wanted.
  expect(await args('put', join(here, 'runs/a.txt.0a1b2c3d.pg-4e5f.partial'), 'x')).not.toContain(exclude)
})

test('counts a file that rclone could only read back the second time', async () => {
  const stats = { bytes: 4, totalBytes: 4, transfers: 0, totalTransfers: 0, deletes: 0 }
  const { files, here } = await setup({ ends: `console.error('${JSON.stringify({ level: 'notice', stats })}')` })
  writeFileSync(join(here, 'a.txt'), 'a')
  expect(await files('put', join(here, 'a.txt'))).toMatchObject({ code: 0, out: 'Uploaded 1 file.\n' })
})

test('uploads the file that a link stands for, under the name of the link', async () => {
  const { files, here, rclone } = await setup()
  writeFileSync(join(here, 'a.txt'), 'a')
  symlinkSync('a.txt', join(here, 'link'))
  expect(await files('put', join(here, 'link'))).toMatchObject({ code: 0 })
  const { args } = rclone.recorded()
  expect(args.slice(1, 3)).toEqual([join(realpathSync(here), 'a.txt'), expect.stringMatching(/\/link$/)])
})

test('says what is wrong with a folder of this computer', async () => {
  const { run, here, rclone } = await setup()
  writeFileSync(join(here, 'a.txt'), 'a')
  const TMPDIR = join(here, 'gone')
  const { code, err } = await run(['files', 'put', join(here, 'a.txt')], '', { PATH: rclone.PATH, TMPDIR })
  expect([code, err]).toEqual([1, expect.stringMatching(/^error: ENOENT.*gone.*\n$/)])
})

// That folder may have files: rclone also takes a proxy's page for an empty list.
test('deletes nothing where a sync has no source', async () => {
  const { files, here, person, rclone } = await setup({ copies: 0, extra: ['a.txt'] })
  mkdirSync(join(here, 'empty/folder'), { recursive: true })
  await upload(person, 'runs/a.txt', 'a')
  for (const [from, to] of [
    ['files:typo', join(here, 'keep')],
    [join(here, 'typo'), 'files:runs'],
    [join(here, 'empty'), 'files:runs'],
    ['files:runs', join(here, 'keep')],
  ] as const)
    expect(await files('sync', from, to, '--delete'), from).toMatchObject({ code: 2, out: '' })
  expect(rclone.recorded().verbs).toEqual(['copy'])
  // Without --delete, an empty folder is just nothing to copy.
  expect(await files('sync', join(here, 'empty'), 'files:runs')).toMatchObject({ code: 0 })
})

test('runs rclone with credentials of its own, and nothing of the customer’s', async () => {
  const { open, here, rclone } = await setup()
  writeFileSync(join(here, 'flight 1.csv'), 'time,height\n')
  const theirs = { AWS_ACCESS_KEY_ID: 'theirs', AWS_PROFILE: 'theirs', RCLONE_CONFIG: 'theirs', rclone_bwlimit: '1k' }
  const more = { ...theirs, NODE_OPTIONS: '--no-warnings', HTTPS_PROXY: 'http://127.0.0.1:9', PATH: rclone.PATH }
  const put = await open(['files', 'put', join(here, 'flight 1.csv'), 'runs/'], more).ended
  expect(put).toEqual({ code: 0, out: 'Uploaded 3 files, 1 file deleted.\n', err: '' })
  const { args, env, config, credentials } = rclone.recorded()
  expect(args.slice(0, 3)).toEqual([
    'copyto',
    join(realpathSync(here), 'flight 1.csv'),
    expect.stringMatching(/^:s3:files\/.+\/runs\/flight 1\.csv$/),
  ])
  expect(args.join(' ')).toContain(' --config  ')
  expect(Object.values(env).filter((value) => value === 'theirs' || value === '1k')).toEqual([])
  const names = Object.keys(env).filter((name) => /^(AWS|RCLONE)_/i.test(name))
  expect(names.toSorted()).toEqual([
    'AWS_CONFIG_FILE',
    'AWS_EC2_METADATA_DISABLED',
    'AWS_SHARED_CREDENTIALS_FILE',
    'RCLONE_RC_PASS',
    'RCLONE_RC_USER',
  ])
  expect(env.HTTPS_PROXY).toBe(more.HTTPS_PROXY)
  expect(env).not.toHaveProperty('NODE_OPTIONS')
  expect(config).not.toContain('--read')
  const { Expiration, ...given } = JSON.parse(credentials)
  expect(given).toEqual({
    Version: 1,
    AccessKeyId: expect.stringMatching(/./),
    SecretAccessKey: expect.stringMatching(/./),
    SessionToken: expect.stringMatching(/./),
  })
  expect(Date.parse(Expiration)).toBeGreaterThan(Date.now())
  // Nothing stays behind.
  expect(existsSync(dirname(env.AWS_CONFIG_FILE ?? ''))).toBe(false)
})

test('asks for credentials once, and its credential process never waits', async () => {
  const { run, here, rclone, person } = await setup()
  writeFileSync(join(here, 'a.txt'), 'a')
  let asked = 0
  const rewrite = (path: string, text: string) => {
    if (path.endsWith('/credentials')) asked++
    return text
  }
  const line = await openLine(url, { rewrite })
  const env = { PATH: rclone.PATH, PROVING_GROUND_URL: line.url }
  expect(await run(['files', 'put', join(here, 'a.txt')], '', env)).toMatchObject({ code: 0 })
  line.close()
  expect(asked).toBe(1)
  let status = 200
  while (status !== 429) ({ status } = await person.post('/api/v1/files/credentials', { mode: 'write' }))
  const limited = await run(['files', 'credentials', '--format', 'process'])
  expect(limited).toMatchObject({ code: 1, out: '', err: expect.stringContaining('too often') })
})

test('tells rclone what to copy where', async () => {
  const { files, here, person, rclone } = await setup()
  mkdirSync(join(here, 'out'))
  writeFileSync(join(here, 'out/a.txt'), 'a')
  await upload(person, 'runs/a.txt', 'a')
  const copied = async (...args: string[]) => {
    expect(await files(...args)).toMatchObject({ code: 0 })
    const { args: said, config } = rclone.recorded()
    const [verb, ...ways] = said.slice(0, 3).map((word) => word.replace(/^:s3:files\/[^/]+\/files\//, 'files:'))
    return [verb, ...ways, config.includes('--read') ? 'read' : 'write']
  }
  const out = join(here, 'out')
  expect(await copied('put', out)).toEqual(['copy', out, 'files:out/', 'write'])
  expect(await copied('put', `${out}/`, 'x/')).toEqual(['copy', out, 'files:x/out/', 'write'])
  expect(await copied('put', join(out, 'a.txt'), 'b.txt')).toEqual([
    'copyto',
    join(out, 'a.txt'),
    'files:b.txt',
    'write',
  ])
  expect(await copied('get', 'runs', join(here, 'x'))).toEqual(['copy', 'files:runs/', join(here, 'x'), 'read'])
  expect(await copied('get', 'runs/', join(here, 'x'))).toEqual(['copy', 'files:runs/', join(here, 'x'), 'read'])
  expect(await copied('get', 'runs/a.txt', out)).toEqual(['copyto', 'files:runs/a.txt', join(out, 'a.txt'), 'read'])
  expect(await copied('sync', out, 'files:x')).toEqual(['copy', out, 'files:x/', 'write'])
  expect(await copied('sync', 'files:runs', out, '--delete')).toEqual(['copy', 'files:runs/', out, 'read'])
})

test('uploads nothing where something is still being deleted: rclone would find it there, and skip it', async () => {
  const { run, here, rclone } = await setup()
  mkdirSync(join(here, 'out'))
  writeFileSync(join(here, 'out/a.txt'), 'a')
  let going: string[] = []
  let wasEarly = false
  const rewrite = (path: string, text: string) => {
    wasEarly ||= going.length > 0 && existsSync(rclone.record)
    if (!path.startsWith('/api/v1/files?')) return text
    return text.replace('"deleting":[]', `"deleting":[${going.splice(0, 1)}]`)
  }
  const line = await openLine(url, { rewrite })
  const env = { PATH: rclone.PATH, PROVING_GROUND_URL: line.url }
  for (const [path, ...args] of [
    ['runs/old/', 'sync', join(here, 'out'), 'files:runs'],
    ['runs/', 'put', join(here, 'out/a.txt'), 'runs/old/a.txt'],
    ['', 'sync', join(here, 'out'), 'files:'],
  ]) {
    going = [JSON.stringify({ path, files_left: 1 })]
    rmSync(rclone.record, { force: true })
    const { code, err } = await run(['files', ...args], '', env)
    expect({ code, err, left: going }).toEqual({
      code: 0,
      err: `Waiting until ${path || 'everything'} is deleted…\n`,
      left: [],
    })
    expect(existsSync(rclone.record)).toBe(true)
  }
  rmSync(rclone.record)
  going = [JSON.stringify({ path: 'runs/', files_left: 1 })]
  expect(await run(['files', 'sync', join(here, 'out'), 'files:runs2'], '', env)).toMatchObject({ code: 0, err: '' })
  line.close()
  expect(wasEarly).toBe(false)
})

test('two downloads of one file at once share no unfinished file', async () => {
  const { files, here, person, rclone } = await setup()
  await upload(person, 'a.txt', 'a')
  const suffix = async () => {
    expect(await files('get', 'a.txt', join(here, 'a.txt'))).toMatchObject({ code: 0 })
    const { args } = rclone.recorded()
    return args[args.indexOf('--partial-suffix') + 1]
  }
  const first = await suffix()
  // rclone takes 16 characters.
  expect(first).toMatch(/^\.pg-[0-9a-f]{4}\.partial$/)
  expect(await suffix()).not.toBe(first)
})

test('a token that may only read downloads, and uploads nothing', async () => {
  const { PATH, recorded } = recordingRclone()
  const { run, person } = await newOperator(url, 'read')
  const here = temporaryFolder('cli-files')
  await upload(person, 'runs/a.txt', 'a')
  expect((await run(['files', 'get', 'runs', join(here, 'runs')], '', { PATH })).code).toBe(0)
  expect(JSON.parse(recorded().credentials)).toMatchObject({ Version: 1 })
  const put = await run(['files', 'put', here, 'x'], '', { PATH })
  expect(put).toMatchObject({ code: 1, err: expect.stringContaining('may only read') })
})

test('refuses without rclone, or with one that is too old', async () => {
  const { run, here, rclone } = await setup()
  writeFileSync(join(here, 'a.txt'), 'a')
  const put = (PATH: string) => run(['files', 'put', join(here, 'a.txt')], '', { PATH })
  const get = 'Get it at https://rclone.org/install/'
  expect(await put(here)).toEqual({
    code: 10,
    out: '',
    err: `error: This needs rclone 1.69 or newer, which isn't on your PATH. ${get}\n`,
  })
  const old = recordingRclone({ version: 'v1.68.2-DEV' })
  expect(await put(old.PATH)).toMatchObject({ code: 10, err: expect.stringContaining('is 1.68.2-DEV. Get it at') })
  expect(await put(recordingRclone({ version: 'v0.70.0' }).PATH)).toMatchObject({ code: 10 })
  for (const version of ['v1.69.0', 'v1.75.1-DEV', 'v2.0.0'])
    expect(await put(recordingRclone({ version }).PATH), version).toMatchObject({ code: 0 })
  // What is wrong with the command itself comes first.
  expect((await run(['files', 'put', 'nope'], '', { PATH: here })).code).toBe(2)
  const stranger = newComputer({ PROVING_GROUND_URL: url, PATH: here })
  expect((await stranger.run(['files', 'put', join(here, 'a.txt')])).code).toBe(3)
  expect(existsSync(rclone.record)).toBe(false)
})

test('says which files and folders rclone leaves out without a word', async () => {
  for (const kind of ['object', 'directory']) {
    const msg = `Duplicate ${kind} found in source - ignoring`
    const notice = JSON.stringify({ level: 'notice', msg, object: 'e' })
    const twice = await setup({ ends: `console.error(${JSON.stringify(notice)})` })
    await upload(twice.person, 'out/a.txt', 'a')
    expect(await twice.files('get', 'out', join(twice.here, 'x'))).toMatchObject({
      code: 1,
      err: expect.stringContaining(`rclone: e: Duplicate ${kind} found`),
    })
  }
  // As the site lists a key with two slashes.
  const { run, rclone, here, person } = await setup()
  await upload(person, 'out/a.txt', 'a')
  const line = await openLine(url, { rewrite: (_, text) => text.replace('"folders":[]', '"folders":[{"name":""}]') })
  const env = { PATH: rclone.PATH, PROVING_GROUND_URL: line.url }
  for (const words of [
    ['get', 'out', join(here, 'x')],
    ['sync', 'files:out', join(here, 'x')],
  ])
    expect(await run(['files', ...words], '', env)).toMatchObject({ code: 1, err: expect.stringContaining('out//') })
  line.close()
})

test('shows the last lines of an rclone that failed, in which no name can move the cursor or begin a line', async () => {
  const lines = Array.from({ length: 9 }, (_, i) =>
    JSON.stringify({ level: 'error', msg: `broke ${i}`, object: i < 8 ? 'a.txt' : 'a\u001b[2J\n::b\u009d.txt' }),
  )
  const ends = `console.error(${JSON.stringify([...lines, 'panic: plain text'].join('\n'))}); process.exit(7)`
  const { files, here } = await setup({ ends })
  writeFileSync(join(here, 'a.txt'), 'a')
  const { code, err } = await files('put', join(here, 'a.txt'))
  expect(code).toBe(1)
  expect(err.split('\n')).toEqual([
    ...[5, 6, 7].map((i) => `rclone: a.txt: broke ${i}`),
    'rclone: a␛[2J␊::b\ufffd.txt: broke 8',
    'rclone: panic: plain text',
    'error: rclone failed. Run it again to copy the remaining files.',
    '',
  ])
})

test('Ctrl-C ends rclone, waits until it cleaned up, and exits with 130', async () => {
  const folder = temporaryFolder('cleaned')
  const [begun, cleaned] = [join(folder, 'begun'), join(folder, 'cleaned')]
  // With something that has its pipe, as its credential process does.
  const ends = `process.on('SIGINT', () => { require('node:fs').writeFileSync('${cleaned}', 'yes'); process.exit(2) })
    require('node:child_process').spawn('/bin/sleep', ['100'], { stdio: 'inherit' })
    // Otherwise, it may end with that before it hears of the signal.
    setInterval(() => {}, 1_000)
    writeFileSync('${begun}', '')`
  const { open, here, rclone } = await setup({ ends })
  writeFileSync(join(here, 'a.txt'), 'a')
  const command = open(['files', 'put', join(here, 'a.txt')], { PATH: rclone.PATH })
  await waitFor(async () => existsSync(begun))
  command.child.kill('SIGINT')
  expect(await command.ended).toMatchObject({ code: 130 })
  expect(existsSync(cleaned)).toBe(true)
})

test('prints credentials and settings for other programs', async () => {
  const { files } = await setup()
  const access = JSON.parse((await files('credentials', '--format', 'json')).out) as FilesAccess
  expect(access).toMatchObject({ mode: 'write', bucket: 'files', expires_at: expect.any(String) })
  expect(JSON.parse((await files('credentials', '--read', '--format', 'json')).out).mode).toBe('read')
  expect((await files('credentials')).out).toContain("export AWS_SESSION_TOKEN='")
  // From 15 minutes before this, AWS's programs ask at each request, and from 15 before the end, they get newer ones.
  const { Expiration } = JSON.parse((await files('credentials', '--format', 'process')).out)
  expect(Date.parse(access.expires_at) - Date.parse(Expiration)).toBeLessThanOrEqual(5_000)
  const { out } = await files('config')
  expect(out).toMatch(/^\[profile proving-ground\]\ncredential_process = ".*files credentials --format process$/m)
  expect(out).toMatch(/^\[proving-ground\]\ntype = s3\n/m)
  expect(out).toContain(`remote = proving-ground:files/${access.prefix.slice(0, -1)}\n`)
  // Nothing in it is secret, or ends.
  expect(out).not.toContain(access.access_key_id)
})
