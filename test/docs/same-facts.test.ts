import { readdirSync, readFileSync } from 'node:fs'
import { expect, inject, test } from 'vitest'
import { EXIT } from '../../cli/src/failure.ts'
import { publishedPorts } from '../../infra/image/user-data.ts'
import { MACHINE_PORTS } from '../../src/domain/machine-ports.ts'
import { EVENT_TYPES } from '../../src/domain/webhook.ts'
import { newComputer } from '../../testing/people/command-line.ts'

/** Facts that several documents must repeat in their own words: each names the same ones. */

const url = inject('url')
const file = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const page = async (path: string) => await (await fetch(url + path)).text()

/** The first column of the table whose first heading says `head`. */
function html(text: string, head: string): string[] {
  const table = text.split('<table').find((part) => part.includes(`<th scope="col">${head}</th>`)) ?? ''
  const firsts = table.matchAll(/<tr[^>]*>(?:<th scope="row"|<td)[^>]*>(.*?)<\/t[hd]>/g)
  return [...firsts].map(([, cell = '']) => cell.replace(/<[^>]+>/g, ''))
}

test('the machine, its firewall, and the page have the ports that the door opens', async () => {
  const ports = MACHINE_PORTS.map(({ port }) => String(port)).sort()
  const [, ofDoor = ''] = file('infra/account.yaml').split('# The page, and the ports of')
  const ofFirewall = [...ofDoor.matchAll(/^ +FromPort: (\d+)\n +ToPort: (\d+)$/gm)].map(
    ([, from, to]) => `${from}-${to}`,
  )
  expect(ofFirewall.sort()).toEqual(['5173', ...ports].map((port) => `${port}-${port}`).sort())
  expect(publishedPorts().split(' ').sort()).toEqual(['5173', ...ports].sort())
  expect(html(await page('/docs/ports'), 'Port').sort()).toEqual(ports)
})

test('docs/api.md names each field of a server', async () => {
  const { components } = await (await fetch(`${url}/api/openapi.json`)).json()
  const fields = Object.keys(components.schemas.Server.properties)
  expect(fields.length).toBeGreaterThan(20)
  const text = file('docs/api.md').split('\n## Calls')[0] ?? ''
  expect(fields.filter((name) => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([])
})

test('the command line and its page name the same commands and options', async () => {
  const { run } = newComputer()
  const listed = (await run(['--help'])).out.split('Commands:')[1] ?? ''
  const commands = [...listed.matchAll(/^ {2}([a-z]+)/gm)]
    .map(([, name = '']) => name)
    .filter((name) => name !== 'help')
  expect(commands.length).toBeGreaterThan(9)
  const ofPage = html(await page('/docs/cli'), 'Command').map((cell) => cell.split(' ')[0])
  expect(ofPage).toEqual(commands)

  const helps = await Promise.all(commands.map(async (name) => (await run(['help', name])).out))
  const ofFiles = [...(helps[commands.indexOf('files')] ?? '').matchAll(/^ {2}([a-z]+) /gm)].map(
    ([, name = '']) => name,
  )
  for (const name of ofFiles) helps.push((await run(['files', name, '--help'])).out)
  const options = new Set(helps.join('\n').match(/--[a-z][a-z-]+/g))
  const text = await page('/docs/cli')
  for (const [option] of text.slice(text.indexOf('<table')).matchAll(/--[a-z][a-z-]+/g))
    expect(options, option).toContain(option)
  for (const option of ['--wait', '--stop-after', '--max-gpus', '--name', '--scope', '--watch', '--all', '--csv'])
    expect(text).toContain(option)
})

test('and the same exit codes', async () => {
  const codes = [0, ...Object.values(EXIT)].map(String)
  expect(html(await page('/docs/cli'), 'Exit code')).toEqual(codes)
  const help = /Exit codes: (.*)/s.exec((await newComputer().run(['--help'])).out)?.[1] ?? ''
  expect(help.match(/\b\d+\b/g)).toEqual(codes)
})

test('the code uses each error code of the page', async () => {
  const codes = html(await page('/docs/events'), 'error_code')
  expect(codes.length).toBeGreaterThan(7)
  // The status page only sorts them.
  const sources = readdirSync('src/server', { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('operations/status.ts'),
  )
  const code = ['domain/run-death.ts', ...sources.map((name) => `server/${name}`)]
    .map((name) => file(`src/${name}`))
    .join('\n')
  expect(codes.filter((one) => !code.includes(`'${one}'`))).toEqual([])
})

test('the page lists every event of a webhook, and the test event', async () => {
  expect(html(await page('/docs/events'), 'Event')).toEqual([...EVENT_TYPES, 'webhook.test'])
})
