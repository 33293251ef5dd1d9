import { expect, test } from 'vitest'
import { checkForm } from '../../src/domain/form.ts'
import { registryHost, registryLoginForm } from '../../src/domain/registry-login.ts'

const GIVEN = { host: 'ghcr.io', username: 'ada', token: 'ghp_1', current_password: 'p' }
const check = (fields: object) => checkForm(registryLoginForm, { ...GIVEN, ...fields })

test.each([
  [' GHCR.io ', 'ghcr.io'],
  ['https://ghcr.io/', 'ghcr.io'],
  ['registry.example.com:5000', 'registry.example.com:5000'],
  ['docker.io', 'docker.io'],
  ['https://index.docker.io/v1/', 'docker.io'],
  ['registry-1.docker.io', 'docker.io'],
  ['hub.docker.com', 'docker.io'],
  ['mydocker.io', 'mydocker.io'],
])('takes %s for %s', (typed, host) => {
  expect(registryHost(typed)).toBe(host)
  expect(check({ host: typed })).toEqual({ ok: true, value: { ...GIVEN, host } })
})

test.each([
  ['a username of 255 characters', { username: 'u'.repeat(255) }],
  ['a username with a sign that few have', { username: '$oauth_tøken+1' }],
  ['a token of 8,192 bytes', { token: `${'ü'.repeat(4_095)}xx` }],
  ['a token of several lines, as Google has them', { token: '{\n"type": "service_account"\n}' }],
])('takes %s', (_, fields) => {
  expect(check(fields)).toEqual({ ok: true, value: { ...GIVEN, ...fields } })
})

test('takes away what a copied line has around it', () => {
  expect(check({ username: ' ada\n', token: '\tghp_1\n' })).toEqual({ ok: true, value: GIVEN })
})

test.each([
  ['no host', { host: ' ' }, 'host', 'Please enter a registry.'],
  ['a path', { host: 'ghcr.io/ada' }, 'host', 'without a path'],
  ['plain HTTP', { host: 'http://ghcr.io' }, 'host', 'without a path'],
  ['a user in it', { host: 'ada@ghcr.io' }, 'host', 'without a path'],
  ['a host of 256 characters', { host: `${'a'.repeat(253)}.io` }, 'host', 'without a path'],
  ['this machine', { host: 'localhost:5000' }, 'host', 'not on the public Internet'],
  ['an address', { host: '169.254.169.254' }, 'host', 'not on the public Internet'],
  ['an inner name', { host: 'registry.internal' }, 'host', 'not on the public Internet'],
  [
    'ECR',
    { host: '123456789012.dkr.ecr.eu-west-1.amazonaws.com' },
    'host',
    "Amazon ECR's logins expire after 12 hours",
  ],
  ["ECR's public gallery", { host: 'public.ecr.aws' }, 'host', "Amazon ECR's logins expire after 12 hours"],
  ['no username', { username: ' ' }, 'username', 'Please enter a username.'],
  ['a username of 256 characters', { username: 'u'.repeat(256) }, 'username', 'cannot exceed 255 characters'],
  ['a colon in it', { username: 'ada:x' }, 'username', "can't have a colon"],
  ['a line break in it', { username: 'a\nb' }, 'username', 'or a control character'],
  ['no token', { token: ' ' }, 'token', 'Please enter a password or a token.'],
  ['a token of 8,193 bytes', { token: `${'ü'.repeat(4_096)}x` }, 'token', 'cannot exceed 8,192 bytes'],
  ['a NUL', { token: 'a\0b' }, 'token', 'without a NUL'],
  ['half a character', { token: '\ud83d' }, 'token', 'without a NUL'],
  ['no password', { current_password: '' }, 'current_password', 'Please enter your current password.'],
])('refuses %s', (_, fields, field, message) => {
  expect(check(fields)).toEqual({ ok: false, faults: [{ field, message: expect.stringContaining(message) }] })
})
