import { execFileSync, spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { expect, inject, test } from 'vitest'
import { openDatabase } from '../../db/client.ts'
import { bills, invoices } from '../../db/schema/billing.ts'
import { runs } from '../../db/schema/fleet.ts'
import { freePort } from '../../dev/free-port.ts'
import { newId } from '../../src/server/crypto/id.ts'
import { CLI_FILE, newComputer, newOperator } from '../../testing/people/command-line.ts'
import { serve } from '../../testing/stack/serve.ts'
import { hasTerminals } from '../../testing/stack/terminal.ts'

const url = inject('url')
const db = openDatabase(inject('databaseUrl'))

test('lists nothing before there is anything', async () => {
  const { run } = await newOperator(url, 'read')
  expect(await run(['runs'])).toEqual({ code: 0, out: "You haven't started a server yet.\n", err: '' })
  expect(await run(['bills'])).toEqual({ code: 0, out: 'You have no bills yet.\n', err: '' })
  // For programs, so without the byte-order mark of the file that people download.
  expect((await run(['bills', '--csv'])).out).toMatch(/^Start Date,End Date,[^\n]+\n$/)
  const usage = await run(['usage'])
  expect(usage.out).toContain('Plan         Free trial\nFree minutes 30.00 of 30.00 left\n')
  expect(JSON.parse((await run(['usage', '--json'])).out).monthlyUsage).toMatchObject({ hoursUsed: 0 })
})

test('lists runs and bills as a table, as JSON, and as CSV', async () => {
  const { person, run, open } = await newOperator(url, 'read')
  const at = Date.UTC(2026, 0, 5, 12)
  const run1 = {
    id: newId('ses'),
    userId: person.id,
    placeId: 'srv_place-1',
    instanceType: 'g6.4xlarge',
    name: 'Night',
    environment: 'Mountains',
    vehicle: 'ugv' as const,
  }
  // As on the dashboard, only whole seconds of the clock count.
  const [from, until] = [at + 900, at + 90_900]
  const times = {
    requestedAt: at,
    runningAt: from,
    billedFrom: from,
    confirmedAt: until,
    endedAt: until,
    endedBecause: 'you' as const,
  }
  await db.insert(runs).values({ ...run1, ...times, stopRequestedAt: until, meteredUntil: until })
  const bill = { id: newId('bill'), userId: person.id, periodStart: at, periodEnd: at + 86_400_000 }
  await db.insert(bills).values({
    ...bill,
    planType: 'basic',
    includedHours: 5,
    trial: false,
    seconds: 19_800,
    amountCents: 123_456,
    createdAt: at,
  })
  await db.insert(invoices).values({
    billId: bill.id,
    userId: person.id,
    step: 'sent',
    stripeInvoiceId: `in_${bill.id}`,
    status: 'open',
    dueAt: at,
    hostedUrl: 'https://invoice.example',
    createdAt: at,
  })

  // Only a process has its own time zone.
  const listed = await open(['runs']).ended
  expect(listed.out).toMatch(/^REQUESTED +STATE +WORLD +TYPE +NAME +RAN +COST +NOTE\n/)
  expect(listed.out).toMatch(/\nJan 5, 2026, 12:00 UTC {2}stopped {2}Mountains, UGV {2}g6\.4xlarge {2}Night {2}1m 29s /)
  expect(JSON.parse((await run(['runs', '--json'])).out)).toMatchObject({ servers: [{ id: run1.id }] })
  expect((await run(['bills'])).out.split('\n')[1]).toBe('Jan 5, 2026  Jan 6, 2026  5h 30m 0s  $1,234.56  overdue')
  expect(JSON.parse((await run(['bills', '--json'])).out).billings).toMatchObject([{ id: bill.id, overdue: true }])
  expect((await run(['bills', '--csv'])).out.split('\n')[1]).toContain('2026-01-05,2026-01-06,1234.56')
})

test('lists what a server can simulate, and which plan has the rest', async () => {
  const { run } = await newOperator(url, 'read')
  const { out } = await run(['environments'])
  expect(out).toMatch(/^ENVIRONMENT +INCLUDED +DESCRIPTION\nBlocks +yes +Boxes and an arch on a level floor\.\n/)
  expect(out).toMatch(/\nmulti +needs Premium +Multi-vehicle\n$/)
  expect(JSON.parse((await run(['environments', '--json'])).out)).toMatchObject({
    environments: [{ name: 'Blocks', available: true }, { name: 'Neighborhood' }, { name: 'Mountains' }],
    vehicles: [{ name: 'uav' }, { name: 'ugv' }, { name: 'multi', available: false }],
  })
})

test('wrong usage exits with 2 and writes nothing to stdout', async () => {
  const { run } = newComputer()
  for (const args of [
    [],
    ['frob'],
    ['start', '--stop-after', '2 hours'],
    ['start', '--stop-after', ''],
    ['start', '--max-gpus', '0'],
    ['start', '--set', 'SCENARIO'],
    ['start', '--set', 'OK=1', '--set', 'path=1'],
    ['start', '--set', 'LD_PRELOAD=x'],
    ['start', '--max-gpus', 'all'],
    ['login', '--scope', 'admin'],
    ['start', 'now'],
    ['completion'],
    ['completion', 'cmd'],
  ]) {
    const refused = await run(args)
    expect(refused, args.join(' ')).toMatchObject({ code: 2, out: '' })
    expect(refused.err).not.toBe('')
  }
  const help = await run(['--help'])
  expect(help).toMatchObject({ code: 0, err: '' })
  for (const word of ['PROVING_GROUND_URL', 'PROVING_GROUND_TOKEN', '--base-url', 'Exit codes'])
    expect(help.out).toContain(word)
})

test('as a process, exits with the same codes, also if nobody reads its output to the end', async () => {
  const { open } = newComputer()
  expect(await open(['frob']).ended).toEqual({ code: 2, out: '', err: "error: unknown command 'frob'\n" })
  const help = open(['--help'])
  help.child.stdout?.destroy()
  expect(await help.ended).toEqual({ code: 0, out: '', err: '' })
})

test('if a site does not answer, exits with 1 and names its address', async () => {
  const port = await freePort()
  const { run } = await newOperator(url, 'read')
  const refused = await run(['status', '--base-url', `http://127.0.0.1:${port}`])
  expect(refused).toMatchObject({ code: 1, out: '' })
  expect(refused.err).toContain(`Can't reach http://127.0.0.1:${port} (ECONNREFUSED).`)
})

test('if a site is something else, exits with 1, without a stack trace', async () => {
  const hotel = await serve((_, answer) => answer.end('<!doctype html>Welcome to the hotel'))
  const { run } = await newOperator(url, 'read')
  const refused = await run(['status', '--base-url', hotel])
  expect(refused).toMatchObject({ code: 1, out: '' })
  expect(refused.err).toBe(`error: ${hotel} didn't answer like Proving Ground. Check the address.\n`)
})

test.runIf(hasTerminals)('colors only on a terminal, and not with NO_COLOR or a dumb one', async () => {
  const { open, openOnTerminal } = newComputer()
  const args = ['status', '--base-url', url]
  const red = '\x1b[31merror:'
  expect((await openOnTerminal(args).ended).out).toContain(red)
  expect((await openOnTerminal(args, { NO_COLOR: '1' }).ended).out).not.toContain('\x1b')
  expect((await openOnTerminal(args, { TERM: 'dumb' }).ended).out).not.toContain('\x1b')
  expect((await open(args).ended).err).not.toContain('\x1b')
})

test('completes commands and their options in bash', async () => {
  const { out } = await newComputer().run(['completion', 'bash'])
  const complete = (...words: string[]) =>
    execFileSync('bash', [
      '-c',
      `${out}\nCOMP_WORDS=(proving-ground "$@"); COMP_CWORD=$#; _proving_ground; echo "\${COMPREPLY[@]}"`,
      'bash',
      ...words,
    ])
      .toString()
      .trim()
  expect(complete('st')).toBe('start status stop')
  expect(complete('start', '--')).toBe(
    '--wait --wait-in-line --code --environment --vehicle --stop-after --max-gpus --set --secret --name --json --base-url --help',
  )
  expect(complete('--base-url', 'https://a.example', 'bills', '--c')).toBe('--csv')
  expect(complete('completion', '')).toMatch(/^bash zsh fish /)
})

const scriptFor = async (shell: string) => (await newComputer().run(['completion', shell])).out

test('its script for zsh loads what zsh lacks, and has no length that zsh takes for a modifier', async () => {
  const script = await scriptFor('zsh')
  expect(script).toMatch(
    /^\(\( \$\+functions\[compdef\] \)\) \|\| .*compinit .*\nautoload -U bashcompinit && bashcompinit\n/,
  )
  expect(script).not.toMatch(/\[@\]:\d:[A-Za-z]/)
})

test('fish gets every command with its description', async () => {
  const lines = (await scriptFor('fish')).split('\n')
  expect(lines).toContain("complete -c proving-ground -n __fish_use_subcommand -a start -d 'start a server'")
  const seen = (command: string) => `complete -c proving-ground -n '__fish_seen_subcommand_from ${command}'`
  expect(lines).toContain(`${seen('usage')} -l json -d 'write JSON for scripts'`)
  expect(lines).toContain(`${seen('login')} -l scope -x -a 'read operate' -d 'what it may do'`)
  expect(lines).toContain(`${seen('login')} -l no-browser -d 'don\\'t open the browser'`)
  expect(lines).toContain(`${seen('completion')} -a zsh`)
})

test.runIf(spawnSync('fish', ['--version']).status === 0)('completes in fish', async () => {
  const script = await scriptFor('fish')
  const complete = (line: string) =>
    execFileSync('fish', ['--no-config', '-c', `${script}\ncomplete -C '${line}'`])
      .toString()
      .replace(/\t.*/g, '')
  expect(complete('proving-ground st')).toBe('start\nstatus\nstop\n')
  expect(complete('proving-ground bills --c')).toBe('--csv\n')
})

test('is one file, and stays small', () => {
  expect(statSync(CLI_FILE).size).toBeLessThan(190_000)
})
