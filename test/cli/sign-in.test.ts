import { execFileSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { newApiToken } from '../../src/domain/api-token.ts'
import { PASSWORD } from '../../testing/people/client.ts'
import { newComputer, newOperator } from '../../testing/people/command-line.ts'
import { openLine } from '../../testing/people/open-line.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'
import { serve } from '../../testing/stack/serve.ts'
import { hasTerminals } from '../../testing/stack/terminal.ts'

const url = inject('url')
const LOGIN = ['login', '--with-token', '--base-url', url]

test('signs in with a token from stdin, keeps it to the user alone, and forgets it', async () => {
  const { person, token } = await newOperator(url)
  const { run, signInFile } = newComputer()
  expect(await run(['status', '--base-url', url])).toMatchObject({ code: 3, out: '' })

  const signedIn = await run(LOGIN, `${token}\n`)
  expect(signedIn).toEqual({ code: 0, out: `You're signed in to ${url} as ${person.email}.\n`, err: '' })
  const file = signInFile() as string
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ url, token, ownToken: false })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  // From here on, this is the site.
  expect(await run(['status'])).toEqual({ code: 0, out: 'No server is running.\n', err: '' })

  chmodSync(file, 0o644)
  expect((await run(LOGIN, token)).code).toBe(0)
  expect(statSync(file).mode & 0o777).toBe(0o600)

  const signedOut = await run(['logout'])
  // Someone pasted this token, so it may be in use elsewhere.
  expect(signedOut).toMatchObject({ code: 0, out: expect.stringContaining(`Revoke it at ${url}/settings/developers`) })
  expect(existsSync(file)).toBe(false)
  expect((await run(['status', '--base-url', url])).code).toBe(3)
  expect(await run(['logout'])).toMatchObject({ code: 0, out: "You weren't signed in.\n" })
})

test('a download knows the site it came from, and logs in there even after another one', async () => {
  const { token } = await newOperator(url)
  const folder = temporaryFolder('download')
  const download = await fetch(`${url}/cli/proving-ground.mjs`)
  writeFileSync(join(folder, 'plain.mjs'), await download.text())
  const packed = await fetch(`${url}/cli/proving-ground.tgz`)
  writeFileSync(join(folder, 'package.tgz'), Buffer.from(await packed.arrayBuffer()))
  execFileSync('tar', ['-xzf', 'package.tgz'], { cwd: folder })
  for (const file of ['plain.mjs', 'package/dist/proving-ground.js']) {
    const { open, signInFile } = newComputer({}, join(folder, file))
    const run = (args: string[], input = '') => {
      const command = open(args)
      command.child.stdin?.end(input)
      return command.ended
    }
    expect(await run(['status'])).toMatchObject({ code: 3, err: expect.stringContaining(`signed in to ${url}.`) })
    expect(await run(['login', '--with-token'], token)).toMatchObject({ code: 0 })
    const saved = signInFile() as string
    writeFileSync(saved, JSON.stringify({ url: 'https://other.example', token }))
    expect(await run(['login', '--with-token'], token)).toMatchObject({ code: 0 })
    expect(JSON.parse(readFileSync(saved, 'utf8'))).toMatchObject({ url })
  }
})

test.runIf(hasTerminals)('asks for the token on a terminal, and never shows it', async () => {
  const { token } = await newOperator(url)
  const { openOnTerminal, signInFile } = newComputer()
  const login = openOnTerminal(LOGIN)
  await login.shows(`create one at ${url}/settings/developers`)
  login.type(`${token}\r`)
  const { code, out } = await login.ended
  expect([code, out]).toEqual([0, expect.stringContaining("You're signed in")])
  expect(out).not.toContain(token.slice(0, 12))
  expect(readFileSync(signInFile() as string, 'utf8')).toContain(token)

  const again = newComputer().openOnTerminal(LOGIN)
  await again.shows('Paste an API token')
  again.type('\x03')
  expect((await again.ended).code).toBe(130)
})

test('refuses text that is not a token, and unknown tokens, and keeps neither', async () => {
  const { run, signInFile } = newComputer()
  const unknown = newApiToken(randomInt)
  for (const [input, sentence] of [
    ['', "This isn't an API token."],
    ['hunter2', "This isn't an API token."],
    [unknown.slice(0, -1), "This isn't an API token."],
    [unknown, 'This API token is not valid'],
  ] as const) {
    const refused = await run(LOGIN, input)
    expect(refused, input).toMatchObject({ code: 3, out: '', err: expect.stringContaining(sentence) })
    if (input) expect(refused.err).not.toContain(input)
  }
  expect(signInFile()).toBeUndefined()
  expect((await run(['status'], '', { PROVING_GROUND_URL: url, PROVING_GROUND_TOKEN: unknown })).code).toBe(3)
  expect((await run(['status'], '', { PROVING_GROUND_URL: url, PROVING_GROUND_TOKEN: 'x' })).code).toBe(3)
})

test('every command says which site it needs', async () => {
  const { run } = newComputer()
  expect(await run(['status'])).toMatchObject({ code: 2, err: expect.stringContaining('PROVING_GROUND_URL') })
})

type Decide = (code: string) => unknown

/** Runs `login`, with someone who answers its code before it first polls. */
async function logIn(
  computer: ReturnType<typeof newComputer>,
  decide: Decide,
  { args = [] as string[], ends = false } = {},
) {
  let login: ReturnType<typeof computer.start> | null = null
  const line = await openLine(url, {
    onRequest: async (path) => {
      if (path !== '/oauth/token' || !login) return
      await login.shows(/Your code is (\S+)/)
      await decide(/Your code is (\S+)/.exec(login.seen.err)?.[1] ?? '')
    },
    rewrite: (path, text) =>
      path === '/oauth/device_authorization'
        ? text.replace('"interval":5', '"interval":0').replace('"expires_in":600', `"expires_in":${ends ? 0 : 600}`)
        : text,
  })
  login = computer.start(['login', '--base-url', line.url, ...args])
  const ended = await login.ended
  line.close()
  return { ...ended, site: line.url }
}

test('login shows a code, waits until its user approves it, and logout revokes the token', async () => {
  const { person } = await newOperator(url)
  const computer = newComputer()
  const decide = (code: string) =>
    person.post('/activate', { user_code: code, decision: 'approve', name: code, current_password: PASSWORD })
  const login = await logIn(computer, decide, { args: ['--scope', 'read'] })
  expect(login).toMatchObject({ code: 0, out: `You're signed in to ${login.site} as ${person.email}.\n` })
  expect(login.err).toContain(`Open ${url}/activate in a browser`)
  const file = computer.signInFile() as string
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const { token } = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify({ url, token, ownToken: true }))

  const shown = await computer.run(['token'])
  expect(shown.out).toMatch(new RegExp(`^Site +${url}\nAccount +${person.email}\nToken +\\S+\nMay +read\nExpires +`))
  expect(shown.out).not.toContain(token)
  expect(JSON.parse((await computer.run(['token', '--json'])).out).api_token).toMatchObject({ scope: 'read' })
  expect(await computer.run(['logout'])).toEqual({ code: 0, out: `You're signed out of ${url}.\n`, err: '' })
  const after = await computer.run(['token'], '', { PROVING_GROUND_URL: url, PROVING_GROUND_TOKEN: token })
  expect(after.code).toBe(3)
})

test('login ends when its user refuses, or when the code expires', async () => {
  const { person } = await newOperator(url)
  const computer = newComputer()
  const refused = await logIn(computer, (code) => person.post('/activate', { user_code: code, decision: 'deny' }))
  expect(refused).toMatchObject({ code: 3, out: '', err: expect.stringContaining('You declined.') })
  expect(await logIn(computer, () => {}, { ends: true })).toMatchObject({ code: 5, out: '' })
  expect(computer.signInFile()).toBeUndefined()
})

test('a token can end itself', async () => {
  const { run } = await newOperator(url, 'read')
  expect(await run(['token', '--revoke'])).toEqual({ code: 0, out: 'API token revoked.\n', err: '' })
  expect((await run(['status'])).code).toBe(3)
})

test('refuses an address that is not a site, and one that would send the token unencrypted', async () => {
  const { run } = newComputer({ PROVING_GROUND_TOKEN: newApiToken(randomInt) })
  for (const address of ['example.com', 'ftp://localhost', 'https://a.example/path', 'https://u@a.example'])
    expect(await run(['status', '--base-url', address]), address).toMatchObject({ code: 2 })
  for (const address of ['http://a.example', 'http://127.0.0.1.a.example', 'http://localhost.a.example'])
    expect(await run(['status', '--base-url', address]), address).toMatchObject({
      code: 2,
      err: expect.stringContaining('unencrypted'),
    })
})

test('a saved token goes only to its own site, and follows no redirect', async () => {
  const { token } = await newOperator(url)
  const { run } = newComputer()
  await run(LOGIN, token)
  const asked: (string | undefined)[] = []
  const address = await serve(({ headers }, answer) => {
    asked.push(headers.authorization)
    answer.writeHead(302, { Location: `${url}/` }).end()
  })
  expect((await run(['status', '--base-url', address])).code).toBe(3)
  expect((await run(['status'], '', { PROVING_GROUND_URL: address })).code).toBe(3)
  expect(asked).toEqual([])
  const redirected = await run(['usage', '--base-url', address], '', { PROVING_GROUND_TOKEN: token })
  expect(redirected).toMatchObject({ code: 1, err: expect.stringContaining(`redirects to ${url}/`) })
  expect(asked).toHaveLength(1)
})
