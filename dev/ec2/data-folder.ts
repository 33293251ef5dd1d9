import { setTimeout as sleep } from 'node:timers/promises'
import { AwsClient } from 'aws4fetch'
import { addressOf } from '../../src/server/files/s3-request.ts'
import { readList } from '../../src/server/files/s3-xml.ts'
import type { MachineFiles } from '../../src/server/fleet/machines/files.ts'
import type { Proof } from './identity.ts'

export type DataFolderOptions = {
  /** Null: there are no files. */
  siteUrl: string | null
  proof: () => Proof
  /** The machine's own, which Cloudflare would report. */
  address: string
  /** The stack's clock. */
  now: () => number
  /** How long it tries to load the files while the site answers that it can't. */
  patienceMs?: number
}

export type Entry = { name: string; size: number | null }

const AGAIN_MS = 250
const PATIENCE_MS = 10_000
const WRITE_BACK_MS = 1_000

/** An instance's /data: what infra/image/files.sh does with rclone, without a file system. */
export class DataFolder {
  /** `none`: the site has no files, or doesn't know this machine. */
  state: 'loading' | 'loaded' | 'none' | 'failed' = 'loading'
  readonly #options: DataFolderOptions
  /** Written, but not yet in the bucket. */
  readonly #unsaved = new Map<string, Buffer>()
  #given: MachineFiles | null = null
  #saving: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | null = null
  #closed = false

  constructor(options: DataFolderOptions) {
    this.#options = options
    if (options.siteUrl === null) this.state = 'none'
  }

  async mayWrite(): Promise<boolean> {
    return (await this.#access()).Mode === 'write'
  }

  /** Stops at any state except `loading`. Without an answer it keeps asking, because the site may be starting. */
  async load(): Promise<void> {
    const until = performance.now() + (this.#options.patienceMs ?? PATIENCE_MS)
    while (this.state === 'loading' && !this.#closed) {
      const status = await this.#renew().catch(() => null)
      // The site may go down between the two answers.
      const isLoaded =
        status === 200 &&
        (await this.#say('loaded').then(
          () => true,
          () => false,
        ))
      if (isLoaded) this.state = 'loaded'
      else if (status === 403 || status === 404) this.state = 'none'
      else if (status !== null && performance.now() > until) {
        await this.#say('failed').catch(() => {})
        this.state = 'failed'
      } else await sleep(AGAIN_MS)
    }
  }

  /** Starts again after a restart of the stack. What was loaded before is still there. */
  resume(): void {
    if (this.state === 'loading') this.state = 'loaded'
  }

  /** One folder: its files and folders. */
  async list(folder: string): Promise<Entry[]> {
    const found = new Map<string, Entry>()
    for (let after: string | null = null; ; ) {
      const { Prefix, Endpoint, Bucket } = await this.#access()
      const url = new URL(`${Endpoint}/${Bucket}`)
      const query = { 'list-type': '2', 'encoding-type': 'url', delimiter: '/', prefix: Prefix + folder }
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
      if (after) url.searchParams.set('continuation-token', after)
      const { files, prefixes, next } = readList(await (await this.#ask(url)).text())
      const nameOf = (key: string) => key.slice(Prefix.length + folder.length)
      for (const key of prefixes) found.set(nameOf(key), { name: nameOf(key), size: null })
      for (const { key, size } of files) if (!key.endsWith('/')) found.set(nameOf(key), { name: nameOf(key), size })
      after = next
      if (after === null) break
    }
    for (const [path, bytes] of this.#unsaved)
      if (path.startsWith(folder)) {
        const [name = '', ...deeper] = path.slice(folder.length).split(/(?<=\/)/)
        found.set(name, { name, size: deeper.length ? null : bytes.length })
      }
    return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Null if there is no such file. */
  async read(path: string): Promise<Buffer | null> {
    const unsaved = this.#unsaved.get(path)
    if (unsaved) return unsaved
    const answer = await this.#ask(await this.#urlOf(path), {}, [404])
    return answer.status === 404 ? null : Buffer.from(await answer.arrayBuffer())
  }

  /** There at once, and in the bucket within a second. */
  write(path: string, bytes: Buffer): void {
    this.#unsaved.set(path, bytes)
    this.#timer ??= setTimeout(() => void this.#save().catch(() => {}), WRITE_BACK_MS)
  }

  /** For when the machine shuts down: saves what is left first. */
  async end(): Promise<void> {
    this.#closed = true
    if (this.state !== 'loaded') return
    for (let tries = 0; this.#unsaved.size && tries < 20; tries++) {
      await this.#save().catch(() => sleep(AGAIN_MS))
    }
    if (!this.#unsaved.size) await this.#say('saved').catch(() => {})
  }

  /** The stack ends, but the machine doesn't: unsaved files are lost, as on any machine that dies. */
  close(): void {
    this.#closed = true
    if (this.#timer) clearTimeout(this.#timer)
  }

  #save(): Promise<void> {
    this.#saving = this.#saving.catch(() => {}).then(() => this.#saveAll())
    return this.#saving
  }

  async #saveAll(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    try {
      for (const [path, bytes] of this.#unsaved) {
        await this.#ask(await this.#urlOf(path), { method: 'PUT', body: new Uint8Array(bytes) })
        if (this.#unsaved.get(path) === bytes) this.#unsaved.delete(path)
      }
    } finally {
      if (this.#unsaved.size && !this.#closed)
        this.#timer = setTimeout(() => void this.#save().catch(() => {}), WRITE_BACK_MS)
    }
  }

  async #urlOf(path: string): Promise<URL> {
    const { Prefix, Endpoint, Bucket } = await this.#access()
    return addressOf({ endpoint: Endpoint, bucket: Bucket }, { key: Prefix + path })
  }

  async #access(): Promise<MachineFiles> {
    if (!this.#given || this.#options.now() >= Date.parse(this.#given.Expiration)) {
      const status = await this.#renew()
      if (status !== 200) throw new Error(`The site answered ${status}`)
    }
    return this.#given as MachineFiles
  }

  async #ask(url: URL, init: RequestInit = {}, expected: number[] = []): Promise<Response> {
    const { AccessKeyId, SecretAccessKey, SessionToken, Region } = await this.#access()
    const client = new AwsClient({
      accessKeyId: AccessKeyId,
      secretAccessKey: SecretAccessKey,
      sessionToken: SessionToken,
      region: Region,
      service: 's3',
      retries: 2,
    })
    const answer = await client.fetch(url.href, { ...init, signal: AbortSignal.timeout(10_000) })
    if (!answer.ok && !expected.includes(answer.status)) throw new Error(`The bucket answered ${answer.status}`)
    return answer
  }

  async #renew(): Promise<number> {
    const answer = await this.#post('/machines/credentials', {})
    if (answer.status === 200) this.#given = (await answer.json()) as MachineFiles
    else await answer.body?.cancel()
    return answer.status
  }

  async #say(phase: 'loaded' | 'failed' | 'saved'): Promise<void> {
    const answer = await this.#post('/machines/files', { phase })
    await answer.body?.cancel()
  }

  #post(path: string, body: Record<string, string>): Promise<Response> {
    const { siteUrl, proof, address } = this.#options
    return fetch(`${siteUrl}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'CF-Connecting-IP': address },
      body: JSON.stringify({ ...proof(), ...body }),
      signal: AbortSignal.timeout(10_000),
    })
  }
}
