import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, inject, test } from 'vitest'
import { createProvingGround } from '../../cli/src/client.ts'
import { newOperator } from '../../testing/people/command-line.ts'
import { openLine } from '../../testing/people/open-line.ts'

const url = inject('url')

test('people who install the package get the types', async () => {
  const folder = resolve(`test-results/client-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  const program = `import { createProvingGround, type Schemas } from 'proving-ground/client'
const client = createProvingGround({ url: 'https://example.com', token: 'pg_' })
const { data } = await client.GET('/api/v1/servers/get_servers')
export const address: string | null | undefined = data?.servers[0]?.ip_address
export const ended: Schemas['Server']['ended_because'] = 'you'
// @ts-expect-error: no such shape
export type Nothing = Schemas['Nothing']
// @ts-expect-error: a token reaches no webhooks
client.POST('/webhooks')
// @ts-expect-error: a number
client.POST('/api/v1/aws/auto_cloud_start_request', { body: { stop_after: true } })
`
  writeFileSync(`${folder}/program.mts`, program)
  const options = ['--ignoreConfig', '--noEmit', '--strict', '--target', 'es2024', '--module', 'nodenext']
  const tsc = resolve('node_modules/typescript/bin/tsc')
  const checked = promisify(execFile)(process.execPath, [tsc, ...options, `${folder}/program.mts`], { cwd: folder })
  const complaint = await checked.then(
    () => '',
    (error: { stdout: string }) => error.stdout,
  )
  rmSync(folder, { recursive: true })
  expect(complaint).toBe('')
})

test('repeats a call whose answer is lost, if that is safe', async () => {
  const [ada, eve] = [await newOperator(url), await newOperator(url)]
  let lost = 0
  const line = await openLine(url, { loses: (path) => path.endsWith('_request') && lost++ < 2 })
  const clientOf = ({ token }: typeof ada) => createProvingGround({ url: line.url, token })
  await expect(clientOf(eve).POST('/api/v1/aws/auto_cloud_start_request')).rejects.toThrow()
  lost = 0
  const params = { header: { 'Idempotency-Key': crypto.randomUUID() } }
  const { data, error } = await clientOf(ada).POST('/api/v1/aws/auto_cloud_start_request', { params })
  line.close()
  expect([lost, error?.error ?? data?.errors]).toEqual([3, []])
})
