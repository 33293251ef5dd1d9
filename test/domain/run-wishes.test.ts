import { expect, test } from 'vitest'
import { checkForm } from '../../src/domain/form.ts'
import { NO_WISHES, runWishes, secretFields } from '../../src/domain/run-wishes.ts'

const check = (
  name: string,
  stop_after: number | null,
  max_gpus: number | null = null,
  environment = '',
  vehicle = '',
  parameters = {},
  until = '',
  command: string[] | null = null,
  secrets: string[] = [],
) => checkForm(runWishes, { name, stop_after, max_gpus, environment, vehicle, parameters, secrets, until, command })

test('takes a name and an end, or neither', () => {
  expect(check(' Night flight ', 60)).toEqual({
    ok: true,
    value: { ...NO_WISHES, name: 'Night flight', stopAfterMs: 60_000 },
  })
  expect(check('', null)).toEqual({ ok: true, value: NO_WISHES })
  expect(check('x'.repeat(50), 2_592_000)).toMatchObject({ ok: true })
})

test('takes a maximum number of GPUs, and refuses less than one, fractions, and more than any machine has', () => {
  expect(check('', null, 1)).toMatchObject({ ok: true, value: { maxGpus: 1 } })
  expect(check('', null, 64)).toMatchObject({ ok: true, value: { maxGpus: 64 } })
  for (const gpus of [0, -1, 1.5, Number.NaN, 65, 2 ** 53])
    expect(check('', null, gpus)).toMatchObject({
      ok: false,
      faults: [{ field: 'max_gpus', message: 'The number of GPUs must be a whole number from 1 to 64.' }],
    })
})

test.each([
  ['x'.repeat(51), null, 'Name cannot exceed 50 characters.'],
  ['a\u202eb', null, "Name contains characters we can't display."],
  ['', 59, 'A server can stop after 60 to 2592000 seconds (30 days).'],
  ['', 2_592_001, 'A server can stop after 60 to 2592000 seconds (30 days).'],
  ['', 60.5, 'A server can stop after 60 to 2592000 seconds (30 days).'],
  ['', Number.NaN, 'A server can stop after 60 to 2592000 seconds (30 days).'],
])('refuses the name %j with the end %j', (name, stopAfter, message) => {
  const field = message.startsWith('Name') ? 'name' : 'stop_after'
  expect(check(name, stopAfter)).toMatchObject({ ok: false, faults: [{ field, message }] })
})

test('takes an environment and a vehicle as people type them, or neither', () => {
  expect(check('', null, null, ' Mountains ', ' UGV')).toMatchObject({
    ok: true,
    value: { environment: 'Mountains', vehicle: 'ugv' },
  })
  expect(check('', null, null, ' ', ' ')).toMatchObject({ ok: true, value: { environment: null, vehicle: null } })
})

test('runs until its program exits, with a command of at most 64 words and 8 KB', () => {
  const command = ['python', '-m', 'tests', '']
  expect(check('', null, null, '', '', {}, 'exit', command)).toMatchObject({
    ok: true,
    value: { untilExit: true, command },
  })
  expect(check('', null, null, '', '', {}, 'exit', Array(64).fill('é'.repeat(64))).ok).toBe(true)
  for (const [until, words, message] of [
    ['end', null, 'A server can run until "exit", or without it.'],
    ['', ['true'], 'A command needs until: "exit".'],
    ['exit', [], "The command needs at least one word. Leave it out to run the image's own."],
    ['exit', Array(65).fill('a'), 'A command has at most 64 words.'],
    ['exit', ['a\0b'], "A command can't contain a NUL."],
    ['exit', ['é'.repeat(4_096), 'a'], 'The command takes 8193 bytes. The limit is 8192.'],
  ] as const)
    expect(check('', null, null, '', '', {}, until, words && [...words])).toMatchObject({
      ok: false,
      faults: [{ message }],
    })
})

test('takes parameters, and names the one that no container can be told', () => {
  const parameters = { SCENARIO: 'fog' }
  expect(check('', null, null, '', '', parameters)).toMatchObject({ ok: true, value: { parameters } })
  expect(check('', null, null, '', '', { HOME: '/' })).toMatchObject({
    ok: false,
    faults: [{ field: 'parameters', message: 'The parameter HOME is reserved. Choose another name.' }],
  })
})

test('no wishes are none at all', () => {
  expect(NO_WISHES).toEqual({
    name: null,
    stopAfterMs: null,
    maxGpus: null,
    environment: null,
    vehicle: null,
    parameters: {},
    untilExit: false,
    command: null,
    secrets: [],
  })
})

const named = (secrets: string[], parameters = {}) => check('', null, null, '', '', parameters, '', null, secrets)
const names = (count: number) => Array.from({ length: count }, (_, i) => `S${i}`)

test('takes the names of up to 20 secrets, each once, and a form sends them back', () => {
  expect(named(['B', 'A', 'B'])).toMatchObject({ ok: true, value: { secrets: ['B', 'A'] } })
  expect(named(names(20), { OTHER: 'x' })).toMatchObject({ ok: true, value: { secrets: names(20) } })
  expect(secretFields(['B', 'A'])).toEqual({ 'secrets[B]': 'on', 'secrets[A]': 'on' })
})

test.each<[string[], object, string]>([
  [names(21), {}, 'A start takes at most 20 secrets.'],
  [['A', 'b'], {}, '"b" can\'t be a secret\'s name.'],
  [['PATH'], {}, 'The secret PATH is reserved.'],
  [['A', 'B'], { B: '' }, 'B is a parameter and a secret. Choose one of them.'],
])('refuses the secrets %j beside the parameters %j', (secrets, parameters, message) => {
  const faults = [{ field: 'secrets', message: expect.stringContaining(message) }]
  expect(named(secrets, parameters)).toEqual({ ok: false, faults })
})
