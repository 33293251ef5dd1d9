import { execFileSync } from 'node:child_process'
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout, setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, inject, test } from 'vitest'
import type { FilesAccess } from '../../src/domain/wire/files.ts'
import { newOperator } from '../../testing/people/command-line.ts'
import { openLine } from '../../testing/people/open-line.ts'
import { atEnd, temporaryFolder } from '../../testing/stack/at-end.ts'
import { oldestRclone, rclone } from '../../testing/stack/rclone.ts'
import { recordingRclone } from '../../testing/stack/recording-rclone.ts'
import { found, isSkipped } from '../../testing/stack/third-party.ts'

const url = inject('url')
const CREDENTIALS = '/api/v1/files/credentials'

describe.each([rclone, oldestRclone])('$name', (program) => {
  async function setup(more: Record<string, string> = {}) {
    const ada = await newOperator(url)
    const here = temporaryFolder('cli-files')
    const env = { PATH: `${dirname(found(program))}:${process.env.PATH}`, ...more }
    const write = (path: string | Buffer, text: string | Buffer, age = 0) => {
      const file = Buffer.concat([Buffer.from(`${here}/`), Buffer.from(path)])
      mkdirSync(dirname(file.toString('latin1')), { recursive: true })
      writeFileSync(file, text)
      const at = Date.now() / 1000 - age
      utimesSync(file, at, at)
    }
    /** Each file's path and text. */
    const tree = (folder: string): Record<string, string> => {
      // One letter a byte, since not every name is UTF-8.
      const names = readdirSync(join(here, folder), { recursive: true, encoding: 'latin1' })
      const texts = names.flatMap((name) => {
        const file = Buffer.from(`${join(here, folder)}/${name}`, 'latin1')
        return statSync(file).isFile() ? [[name, readFileSync(file, 'utf8')]] : []
      })
      return Object.fromEntries(texts)
    }
    const files = (...args: string[]) => ada.run(['files', ...args], '', env)
    return { ...ada, env, files, here, write, tree }
  }
  const there = test.skipIf(isSkipped(program))

  there('copies files with odd names there and back', async () => {
    const { files, here, write, tree } = await setup()
    const names = [
      ' lead',
      'trail ',
      '100%2F',
      "it's",
      '"q"',
      '🚁',
      '-dash',
      'a:b',
      '*?',
      'tab\t',
      '\\',
      '／',
      'ende\u0301',
    ]
    for (const name of names) write(`in/${name}`, `in ${name}`)
    write(Buffer.from('in/not UTF-8 \xff', 'latin1'), 'bytes')
    write('in/folder /deep/empty', '')
    expect(await files('put', join(here, 'in'))).toEqual({ code: 0, out: 'Uploaded 15 files.\n', err: '' })
    expect(await files('get', 'in', join(here, 'out'))).toMatchObject({ code: 0, out: 'Downloaded 15 files.\n' })
    expect(tree('out')).toEqual(tree('in'))
    for (const name of names) {
      expect(await files('put', '--', join(here, 'in', name), `one/${name}`), name).toMatchObject({ code: 0 })
      expect(await files('get', '--', `one/${name}`, join(here, 'one', name)), name).toMatchObject({ code: 0 })
    }
    expect(Object.keys(tree('one'))).toHaveLength(names.length)
  })

  there('syncs a folder both ways, and copies only what differs', async () => {
    const theirs = {
      AWS_ACCESS_KEY_ID: 'x',
      AWS_SECRET_ACCESS_KEY: 'x',
      RCLONE_S3_ENDPOINT: 'http://x',
      RCLONE_DRY_RUN: 'true',
    }
    const { files, here, write, tree } = await setup(theirs)
    write('out/a.txt', 'one', 60)
    write('out/b/c.txt', 'two', 60)
    const up = () => files('sync', join(here, 'out'), 'files:jobs/', '--delete')
    const down = () => files('sync', 'files:jobs/', join(here, 'in'), '--delete')
    expect(await up()).toEqual({ code: 0, out: 'Uploaded 2 files.\n', err: '' })
    expect((await up()).out).toBe('Uploaded 0 files.\n')
    expect((await down()).out).toBe('Downloaded 2 files.\n')
    expect((await down()).out).toBe('Downloaded 0 files.\n')
    // As long as before, and older.
    write('out/a.txt', 'eno', 600)
    unlinkSync(join(here, 'out/b/c.txt'))
    expect((await up()).out).toBe('Uploaded 1 file, 1 file deleted.\n')
    expect(JSON.parse((await files('sync', 'files:jobs/', join(here, 'in'), '--delete', '--json')).out)).toEqual({
      copied: 1,
      deleted: 1,
    })
    expect(tree('in')).toEqual({ 'a.txt': 'eno' })
    // What a link stands for stays, and nothing that only looks like it.
    const names = ['big/1', 'l*nk {x}', 'l-nk {x}']
    for (const name of names) write(`out/${name}`, name)
    expect((await up()).out).toBe('Uploaded 3 files.\n')
    renameSync(join(here, 'out/big'), join(here, 'big'))
    for (const name of names.slice(1)) unlinkSync(join(here, 'out', name))
    symlinkSync(join(here, 'big'), join(here, 'out/big'))
    symlinkSync(join(here, 'gone'), join(here, 'out', 'l*nk {x}'))
    expect(await up()).toEqual({
      code: 0,
      out: 'Uploaded 0 files, 1 file deleted.\n',
      err: expect.stringMatching(/files of the same names stay on the site: (big, l\*nk {x}|l\*nk {x}, big)\n/),
    })
    await down()
    expect(tree('in')).toEqual({ 'a.txt': 'eno', 'big/1': 'big/1', 'l*nk {x}': 'l*nk {x}' })
    const clash = await files('get', 'jobs/a.txt', join(here, 'out/a.txt/below'))
    expect(clash).toMatchObject({ code: 1, err: expect.stringContaining('rclone: ') })
  })

  there('copies 2,000 small files there and back', async () => {
    const { files, here, write, tree } = await setup()
    for (let i = 0; i < 2_000; i++) write(`many/${i % 20}/${i}`, `${i}`)
    expect(await files('put', join(here, 'many'))).toEqual({ code: 0, out: 'Uploaded 2000 files.\n', err: '' })
    expect(await files('get', 'many', join(here, 'got'))).toMatchObject({ code: 0, out: 'Downloaded 2000 files.\n' })
    expect(tree('got')).toEqual(tree('many'))
  })

  there('leaves nothing of a large file after Ctrl-C, and sends it again', async () => {
    const { open, env, files, here, write, person } = await setup()
    write('large', '')
    // From 200 MiB on, rclone sends parts.
    truncateSync(join(here, 'large'), 201 * 1024 * 1024)
    const { endpoint } = (await person.post<{ credentials: FilesAccess }>(CREDENTIALS, { mode: 'read' })).body
      .credentials
    const begun = Promise.withResolvers<void>()
    const onRequest = (path: string) => path.includes('partNumber=') && begun.resolve()
    const bucket = await openLine(endpoint, { onRequest })
    const line = await openLine(url, { rewrite: (_, text) => text.replaceAll(endpoint, bucket.url) })
    const put = open(['files', 'put', join(here, 'large')], { ...env, PROVING_GROUND_URL: line.url })
    await begun.promise
    put.child.kill('SIGINT')
    expect(await put.ended).toMatchObject({ code: 130, out: '', err: expect.stringContaining('Run it again') })
    line.close()
    bucket.close()
    expect((await person.get<{ files: unknown[] }>('/api/v1/files')).body.files).toEqual([])
    expect(await files('put', join(here, 'large'))).toMatchObject({ code: 0, out: 'Uploaded 1 file.\n' })
    expect((await person.get('/api/v1/files')).body).toMatchObject({ files: [{ name: 'large', size: 210_763_776 }] })
  })

  there('leaves nothing of a file for which a disk has no room', async ({ skip }) => {
    const { files, here, write, tree } = await setup()
    mkdirSync(join(here, 'disk'))
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', join(here, 'disk')])
    } catch {
      skip('This machine lets us mount nothing.')
    }
    atEnd(() => execFileSync('umount', [join(here, 'disk')]))
    write('in/small', 'fits')
    write('in/large', 'x'.repeat(2 * 1024 * 1024))
    await files('put', join(here, 'in'))
    const full = await files('get', 'in', join(here, 'disk/in'))
    expect(full).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/no space left|disk space/) })
    expect(tree('disk/in')).toEqual({ small: 'fits' })
  })

  there('renews its credentials while it copies', async () => {
    const { run, env, here, write, person } = await setup()
    const { endpoint } = (await person.post<{ credentials: FilesAccess }>(CREDENTIALS, { mode: 'read' })).body
      .credentials
    let given = 0
    let expiresAt = 0
    let asked = 0
    let pause = Promise.resolve()
    // At each 70th request, the bucket makes everybody wait until the credentials have expired.
    const onRequest = () => {
      if (++asked % 70 === 0) pause = setTimeout(expiresAt - Date.now())
      return pause
    }
    const bucket = await openLine(endpoint, { onRequest })
    const rewrite = (path: string, text: string) => {
      if (path !== CREDENTIALS) return text
      given++
      const answer = JSON.parse(text.replaceAll(endpoint, bucket.url)) as { credentials: FilesAccess }
      expiresAt = Date.now() + 8_000
      // The command line lets them end a little earlier.
      answer.credentials.expires_at = new Date(expiresAt + 5_000).toISOString()
      return JSON.stringify(answer)
    }
    const line = await openLine(url, { rewrite })
    for (let i = 0; i < 100; i++) write(`many/${i}.txt`, `${i}`)
    const put = await run(['files', 'put', join(here, 'many')], '', { ...env, PROVING_GROUND_URL: line.url })
    expect(put, put.err).toMatchObject({ code: 0, out: 'Uploaded 100 files.\n' })
    line.close()
    bucket.close()
    // The first, and two more at least.
    expect(given).toBeGreaterThan(2)
  })

  there('goes on with the next credentials, which have another secret', async () => {
    const { run, env, files, here, write, tree, person } = await setup()
    for (let i = 0; i < 300; i++) write(`many/${i}.txt`, `${i}`)
    expect(await files('put', join(here, 'many'))).toMatchObject({ code: 0 })
    const next = (await person.post<{ credentials: FilesAccess }>(CREDENTIALS, { mode: 'write' })).body
    // Each read takes a while, so that rclone is at work when its first credentials end.
    const bucket = await openLine(next.credentials.endpoint, { onRequest: () => sleep(150) })
    let given = 0
    const rewrite = (path: string, text: string) => {
      if (path !== CREDENTIALS) return text
      const answer = given++ ? structuredClone(next) : (JSON.parse(text) as typeof next)
      answer.credentials.endpoint = bucket.url
      if (given === 1) answer.credentials.expires_at = new Date(Date.now() + 8_000).toISOString()
      return JSON.stringify(answer)
    }
    const line = await openLine(url, { rewrite })
    const more = { ...env, PROVING_GROUND_URL: line.url }
    const { code, err } = await run(['files', 'get', 'many', join(here, 'got')], '', more)
    line.close()
    bucket.close()
    expect([code, err, given]).toEqual([0, '', 2])
    expect(tree('got')).toEqual(tree('many'))
  })

  /** Their files in `in/`, and a line to the site behind which a proxy changes what the bucket answers. */
  async function behindProxy(
    { env, person, run }: Awaited<ReturnType<typeof setup>>,
    proxy: Parameters<typeof openLine>[1],
  ) {
    const { endpoint } = (await person.post<{ credentials: FilesAccess }>(CREDENTIALS, { mode: 'read' })).body
      .credentials
    const bucket = await openLine(endpoint, proxy)
    const line = await openLine(url, { rewrite: (_, text) => text.replaceAll(endpoint, bucket.url) })
    atEnd(() => [line, bucket].map((one) => one.close()))
    return (...args: string[]) => run(['files', ...args], '', { ...env, PROVING_GROUND_URL: line.url })
  }

  there('deletes nothing here by a list in whose place a proxy sends a page', async () => {
    const ada = await setup()
    for (const name of ['a', 'b', 'c/d']) ada.write(`in/${name}`, name)
    expect(await ada.files('put', join(ada.here, 'in'))).toMatchObject({ code: 0 })
    const whole = ada.tree('in')
    let [lists, first, last] = [0, 0, 0]
    const rewrite = (path: string, text: string) => {
      if (!path.includes('list-type=2')) return text
      lists++
      return first <= lists && lists <= last ? '<!doctype html><title>Sign in</title>' : text
    }
    const files = await behindProxy(ada, { rewrite })
    const sync = () => {
      lists = 0
      return files('sync', 'files:in', join(ada.here, 'in'), '--delete')
    }
    expect(await sync()).toMatchObject({ code: 0, out: 'Downloaded 0 files.\n' })
    const most = lists
    expect(most).toBeGreaterThan(1)
    for ([first, last] of [...Array.from({ length: most }, (_, i) => [i + 1, i + 1] as const), [1, 99], [2, 99]]) {
      await sync()
      expect(ada.tree('in'), `${first} to ${last} of ${most}`).toEqual(whole)
    }
    ;[first, last] = [0, 0]
    ada.write('in/gone/e', 'e')
    expect(await sync()).toMatchObject({ code: 0, out: 'Downloaded 0 files, 1 file deleted.\n' })
    expect(readdirSync(join(ada.here, 'in')).toSorted()).toEqual(['a', 'b', 'c'])
  })

  there('keeps no parts of two files, if one replaces the other while it is copied', async () => {
    const ada = await setup()
    const MIB = 1024 * 1024
    /** In parts, since rclone would notice by its checksum that any other file changed. */
    const send = async (path: string, size: number, letter: string) => {
      const upload = { path, size, version: letter }
      const { id, parts, part_size } = (await ada.person.post('/api/v1/files/uploads', upload)).body.upload
      const numbers = Array.from({ length: parts }, (_, i) => i + 1)
      const links = (await ada.person.post(`/api/v1/files/uploads/${id}/parts`, { parts: numbers })).body
      for (const { part, url: to, headers } of links.parts) {
        const body = Buffer.alloc(Math.min(part_size, size - (part - 1) * part_size), letter)
        expect((await fetch(to, { method: 'PUT', headers, body })).status).toBe(200)
      }
      expect((await ada.person.post(`/api/v1/files/uploads/${id}/complete`, {})).status).toBe(200)
    }
    let [reads, most, replace] = [0, 0, () => Promise.resolve()]
    let replaced: Promise<void> | null = null
    const onRequest = (path: string) => {
      if (!path.includes('x-id=GetObject') || ++reads < most) return
      replaced ??= replace()
      return replaced
    }
    const files = await behindProxy(ada, { onRequest })
    // From 256 MiB on, rclone reads a file in four ranges. The last one comes once the file is another.
    for (const [size, range, ...args] of [
      [257 * MIB, 4, 'get', 'm/m.bin', join(ada.here, 'out/m.bin')],
      [6 * MIB, 1, 'sync', 'files:m', join(ada.here, 'out')],
    ] as const) {
      await send('m/m.bin', size, 'A')
      replace = () => send('m/m.bin', size, 'B')
      ;[reads, most, replaced] = [0, range, null]
      const refused = await files(...args)
      expect(replaced, args[0]).not.toBe(null)
      expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringContaining('copied: m.bin. Run it again.') })
      expect(ada.tree('out')).toEqual({})
    }
  })

  there('writes nothing outside of the folder, whatever a file is called', async () => {
    const { run, env, files, here, write, tree, person } = await setup()
    write('in/aa/x.txt', 'fine')
    expect(await files('put', join(here, 'in'), 'in')).toMatchObject({ code: 0 })
    const { endpoint } = (await person.post<{ credentials: FilesAccess }>(CREDENTIALS, { mode: 'read' })).body
      .credentials
    // A bucket that lists in/../x.txt.
    const hostile = await openLine(endpoint, { rewrite: (_, text) => text.replaceAll('in/aa/x', 'in/../x') })
    const rewrite = (_: string, text: string) => text.replaceAll(endpoint, hostile.url)
    const line = await openLine(url, { rewrite })
    const got = await run(['files', 'get', 'in/', join(here, 'deep/out')], '', { ...env, PROVING_GROUND_URL: line.url })
    expect(got).toMatchObject({ code: 1 })
    line.close()
    hostile.close()
    expect(Object.keys(tree('')).filter((name) => !name.startsWith('in/'))).toEqual([])
  })
})

test('syncs a folder with more files than a call can have arguments', async () => {
  const [ada, here, fake] = [await newOperator(url), temporaryFolder('cli-files'), recordingRclone()]
  mkdirSync(join(here, 'runs/frames'), { recursive: true })
  for (let i = 0; i < 130_000; i++) closeSync(openSync(join(here, `runs/frames/${i}`), 'w'))
  const sync = ['files', 'sync', join(here, 'runs'), 'files:runs', '--delete']
  expect(await ada.run(sync, '', { PATH: fake.PATH })).toMatchObject({ code: 0 })
  expect(fake.recorded().args[0]).toBe('sync')
})
