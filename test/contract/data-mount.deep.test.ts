// The stack runs in this process, so a synchronous call would wait for itself.
import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase } from '../../db/client.ts'
import { type Stack, startStack } from '../../dev/stack.ts'
import { type Client, newPerson, waitFor } from '../../testing/people/client.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'
import { canMount, canSync } from '../../testing/stack/data-machine.ts'
import { quickHasher } from '../../testing/stack/quick-hasher.ts'
import { startedDataMachine } from '../../testing/stack/started-data-machine.ts'

type Listed = {
  files: { name: string; size: number; modified_at: string }[]
  folders: { name: string }[]
  used_bytes: number
}

describe.skipIf(!canMount)('/data on a machine, with the real rclone', () => {
  let stack: Stack
  beforeAll(async () => {
    const dataDir = temporaryFolder('data-mount')
    stack = await startStack({ dataDir, ec2BootMs: 100, log: () => {}, ...quickHasher })
  })
  afterAll(() => stack.close())

  async function machineOf(person: Client, { load = true, patience = 30, reconnect = 600 } = {}) {
    const machine = await startedDataMachine(stack, person, { patience, reconnect })
    if (load) expect(await machine.run('load')).toEqual({ code: 0, text: '' })
    return machine
  }

  const list = async (person: Client, path = '') =>
    (await person.get<Listed>(`/api/v1/files?path=${encodeURIComponent(path)}`)).body

  async function put(person: Client, path: string, content: string): Promise<void> {
    const { body } = await person.post('/api/v1/files', { path, size: Buffer.byteLength(content) })
    const { url, method, headers } = body.upload
    expect((await fetch(url, { method, headers, body: content })).status).toBe(200)
  }

  test('shows what was uploaded, and keeps what is written, with its names and folders', async () => {
    const ada = await newPerson(stack.url)
    await put(ada, 'maps/رحلة 1.txt', 'uploaded')
    const machine = await machineOf(ada)
    expect(await readFile(machine.at('maps/رحلة 1.txt'), 'utf8')).toBe('uploaded')
    await mkdir(machine.at('runs/empty'), { recursive: true })
    await writeFile(machine.at("runs/it's 100% (new).csv"), 'written')
    await writeFile(machine.at('maps/رحلة 1.txt'), 'changed on the machine')
    // Buckets keep no permissions, so every file may be run. They have no links either.
    await writeFile(machine.at('run.sh'), '#!/bin/sh\necho "ran with $1"\n')
    expect(await promisify(execFile)(machine.at('run.sh'), ['one'])).toMatchObject({ stdout: 'ran with one\n' })
    await expect(symlink('run.sh', machine.at('link.sh'))).rejects.toThrow(/EIO|ENOSYS|EPERM/)
    // Within seconds, while the server runs.
    await waitFor(async () => (await list(ada, 'runs')).files.length > 0)
    await waitFor(async () => (await list(ada, 'maps')).files[0]?.size === 22)
    expect(await list(ada, 'runs')).toMatchObject({
      files: [{ name: "it's 100% (new).csv", size: 7 }],
      folders: [{ name: 'empty' }],
    })
    expect(await machine.run('save')).toEqual({ code: 0, text: '' })
    await machine.end()
    await machine.stop()
  })

  test('renews its credentials under the mount, and has none after the run', async () => {
    const ada = await newPerson(stack.url)
    await put(ada, 'early.txt', 'early')
    await put(ada, 'late.txt', 'late')
    // A trial's server would end before its credentials do.
    const db = openDatabase(stack.services.vars.LIBSQL_URL as string)
    await db.$client.execute("UPDATE subscriptions SET plan_type = 'basic', sub_type = 'paid'")
    const machine = await machineOf(ada, { reconnect: 1 })
    expect(await readFile(machine.at('early.txt'), 'utf8')).toBe('early')
    // From here on, rclone takes expired ones for valid: only a new connection gets new ones.
    await fetch(`${stack.url}/dev/clock`, { method: 'POST', body: JSON.stringify({ advance_seconds: 31 * 60 }) })
    await waitFor(async () => (await readFile(machine.at('late.txt'), 'utf8').catch(() => '')) === 'late')
    await writeFile(machine.at('after.txt'), 'after half an hour')
    await waitFor(async () => (await list(ada)).files.some(({ name }) => name === 'after.txt'))
    const issued = JSON.parse((await machine.run('credentials')).text)
    await machine.end()
    await machine.stop()
    expect(await machine.run('credentials')).toMatchObject({ code: 1 })
    expect(issued.SessionToken).toMatch(/./)
  })

  test('uploads after a crash what was written before it', async () => {
    const ada = await newPerson(stack.url)
    const machine = await machineOf(ada)
    const big = Buffer.alloc(60_000_000, 'flight')
    await writeFile(machine.at('big.bin'), big)
    // rclone writes down what it still owes a moment after a file is closed; before that, a crash may lose it.
    await waitFor(async () => owes(machine.cache, 'big.bin'))
    machine.kill()
    expect(await machine.run('load')).toEqual({ code: 0, text: '' })
    // While 60 MB go in, the bucket may be too busy to list.
    await waitFor(async () => (await list(ada)).files?.[0]?.size === big.length)
    expect((await readFile(machine.at('big.bin'))).equals(big)).toBe(true)
    await machine.end()
    await machine.stop()
  })

  test('saves 500 MB that were written a moment before its server stops', async () => {
    const ada = await newPerson(stack.url)
    const machine = await machineOf(ada)
    const part = Buffer.alloc(100_000_000, 'recording ')
    for (let i = 0; i < 5; i++) await writeFile(machine.at(`flight ${i}.bag`), part)
    expect(await machine.run('save')).toEqual({ code: 0, text: '' })
    // As if the disk were gone with the machine.
    machine.kill()
    await machine.stop()
    const { files } = await list(ada)
    expect(files.map(({ name, size }) => [name, size])).toEqual(
      Array.from({ length: 5 }, (_, i) => [`flight ${i}.bag`, part.length]),
    )
    const next = await machineOf(ada)
    expect((await readFile(next.at('flight 4.bag'))).equals(part)).toBe(true)
    await next.end()
    await next.stop()
  })

  test('saves a thousand small files, and the next server lists and reads them', async () => {
    const ada = await newPerson(stack.url)
    const machine = await machineOf(ada)
    const done = { code: 0, text: '' }
    expect(await machine.script('mkdir frames; for i in {1..1000}; do echo $i >frames/$i.txt; done')).toEqual(done)
    expect(await machine.script('touch --date=2001-01-01 frames/1.txt')).toEqual(done)
    expect(await machine.run('save')).toEqual(done)
    machine.kill()
    await machine.stop()
    const next = await machineOf(ada)
    // The time in the bucket's listing. Any other would take a call per file.
    const first = (await list(ada, 'frames')).files.find(({ name }) => name === '1.txt')
    const { text } = await next.script('stat --format=%Y frames/1.txt')
    expect(Number(text)).toBe(Math.floor(Date.parse(first?.modified_at ?? '') / 1000))
    expect((await next.script('ls -l frames | wc -l')).text).toBe('1001\n')
    expect(await next.script('cat frames/* | sort -n | cmp - <(seq 1000)')).toEqual(done)
    await next.end()
    await next.stop()
  })

  test('lets a full account read, and nothing else', async () => {
    const ada = await newPerson(stack.url)
    await put(ada, 'all.bin', 'x'.repeat(1000))
    const db = openDatabase(stack.services.vars.LIBSQL_URL as string)
    await db.$client.execute('UPDATE file_folders SET used_bytes = 2000000000, counted_at = 9e15, open_until = 0')
    const machine = await machineOf(ada)
    expect(await readFile(machine.at('all.bin'), 'utf8')).toHaveLength(1000)
    await expect(writeFile(machine.at('more.bin'), 'x')).rejects.toThrow(/EROFS/)
    await machine.end()
    await machine.stop()
  })

  test('gives up within its patience while there are no credentials, and the site says so', async () => {
    const ada = await newPerson(stack.url)
    const machine = await machineOf(ada, { load: false, patience: 2 })
    await machine.stop()
    expect(await machine.run('load')).toEqual({ code: 1, text: 'the site answered 403\n' })
  })
})

describe.skipIf(!canSync)('the same folder without a mount, with the real rclone', () => {
  let stack: Stack
  beforeAll(async () => {
    const dataDir = temporaryFolder('data-sync')
    stack = await startStack({ dataDir, ec2BootMs: 100, log: () => {}, ...quickHasher })
  })
  afterAll(() => stack.close())

  test("keeps what one machine sends for the next, with the machines' own credentials and no others", async () => {
    const ada = await newPerson(stack.url)
    const eve = await newPerson(stack.url)
    const machine = await startedDataMachine(stack, ada)
    const done = { code: 0, text: '' }
    const write =
      'mkdir -p frames رحلة; for i in {1..1000}; do echo $i >frames/$i.txt; done; head -c 60M /dev/urandom >"رحلة/1.bag"'
    expect(await machine.script(write)).toEqual(done)
    expect(await machine.sync('up')).toEqual(done)
    const sum = async ({ script }: typeof machine) =>
      (await script('find . -type f | sort | xargs -d "\\n" sha256sum')).text
    const sent = await sum(machine)
    expect(sent.split('\n')).toHaveLength(1002)
    await machine.stop()
    expect((await machine.sync('up')).code).not.toBe(0)

    const next = await startedDataMachine(stack, ada)
    expect(await next.sync('down')).toEqual(done)
    expect(await sum(next)).toBe(sent)
    await next.stop()
    const other = await startedDataMachine(stack, eve)
    expect(await other.sync('down')).toEqual(done)
    expect(await sum(other)).not.toContain('frames')
    await other.stop()
  })
})

/** Whether rclone's cache says that this file isn't uploaded yet. */
async function owes(cache: string, name: string): Promise<boolean> {
  const files = await readdir(join(cache, 'vfsMeta'), { recursive: true, withFileTypes: true }).catch(() => [])
  const found = files.find((file) => file.isFile() && file.name === name)
  if (!found) return false
  const text = await readFile(join(found.parentPath, name), 'utf8')
  return text.includes('"Dirty":true') || text.includes('"Dirty": true')
}
