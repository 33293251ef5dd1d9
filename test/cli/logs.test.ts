import { expect, inject, test } from 'vitest'
import { newOperator } from '../../testing/people/command-line.ts'
import { machinesOf } from '../../testing/people/machines.ts'

const url = inject('url')
const machines = machinesOf(url, inject('databaseUrl'))

test('prints the log of a server that runs or ran, follows it to its end, and knows no other', async () => {
  const { run, start, person } = await newOperator(url)
  expect(await run(['logs'])).toMatchObject({ code: 1, err: "error: You haven't started a server yet.\n" })
  const machine = await machines.startMachine(person)
  const next = await machines.nextOf(machine)
  await machines.say(machine, { first: next, lines: [['stdout', '\u001b[31mred\u001b[0m \u001b]0;owned\u0007']] })
  const { code, out } = await run(['logs'])
  expect(code).toBe(0)
  expect(out).toMatch(/^# Pulling .*\n(# .*\n)*Simulator ready on port 5173\nred \n$/)
  const lines = (await run(['logs', machine.id, '--json'])).out.trim().split('\n')
  expect(lines.map((line) => JSON.parse(line).n)).toEqual(lines.map((_, i) => i + 1))

  const following = start(['logs', '-f'])
  await following.shows(/red/)
  await machines.say(machine, { first: next + 1, lines: [['stderr', 'and then']] })
  await following.shows(/and then/)
  await person.post('/api/v1/aws/stop_server', { server_id: machine.placeId, session_id: machine.id })
  expect(await following.ended).toMatchObject({ code: 0 })
  expect((await run(['logs'])).out).toContain('and then')
  expect(await run(['logs', 'nobody'])).toMatchObject({
    code: 1,
    err: 'error: None of your latest servers is named nobody. List them with: proving-ground runs\n',
  })

  const other = await newOperator(url)
  expect(await other.run(['logs', machine.id])).toMatchObject({ code: 1 })
})
