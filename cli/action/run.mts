import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { appendFileSync, existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fetchCommandLine, findLink } from './keep.mts'
import { fetchRclone } from './rclone.mts'
import { input, parameters, seconds, site, tell } from './site.mts'

type Result = {
  server: {
    id: string
    instance_type: string
    billed_from: string | null
    end_time: string | null
    cost_dollars: number | null
  }
  exit_code: number | null
  ended_because: string
}

/** Runs a program on a server of its own to its end, through the command line that the site serves. @returns its exit code */
export async function runProgram(): Promise<number> {
  // What the program leaves is written there.
  if (input('keep') && (await findLink(input('keep'), { below: true })))
    throw new Error(`${input('keep')} is or contains a link, so the program's files could end up somewhere else.`)
  // If the runner dies, the post step stops what this file says that we started.
  const file = join(process.env.RUNNER_TEMP ?? tmpdir(), `proving-ground-start-${randomUUID()}`)
  tell('STATE', 'run', file)
  const tools = join(process.env.RUNNER_TEMP ?? tmpdir(), 'proving-ground')
  const cli = await fetchCommandLine(tools)
  if (input('keep') && !(await hasRclone())) await fetchRclone(tools)
  const lines = (name: string) =>
    input(name)
      .split('\n')
      .filter((line) => line.trim())
  const words = [
    ...['run', '--json', '--environment', input('environment'), '--name', input('name')],
    ...['--stop-after', `${seconds(input('stop-after'))}s`, '--wait', `${seconds(input('wait'), 'wait')}s`],
    ...(input('vehicle') ? ['--vehicle', input('vehicle')] : []),
    ...Object.entries(parameters()).flatMap(([name, value]) => ['--set', `${name}=${value}`]),
    ...lines('secrets').flatMap((name) => ['--secret', name.trim()]),
    ...(input('keep') ? ['--keep', input('keep')] : []),
    ...['--', ...wordsOf(input('run'), lines('run'))],
  ]
  const { code, result } = await follow(cli, words, { tools, file })
  if (result) await report(result, code)
  return code
}

/** Of one line, what spaces part; of several, each is a word. "default" leaves the image its own command. */
function wordsOf(run: string, lines: string[]): string[] {
  if (run === 'default') return []
  return lines.length > 1 ? lines.map((line) => line.trim()) : run.split(/\s+/)
}

const hasRclone = () =>
  new Promise<boolean>((done) => {
    const child = spawn('rclone', ['version'], { stdio: 'ignore' })
    child.on('error', () => done(false))
    child.on('close', (code) => done(code === 0))
  })

/** Shows its log as a group, in which nothing that a program prints is a command to the runner. */
async function follow(cli: string, words: string[], { tools, file }: { tools: string; file: string }) {
  const resume = randomUUID()
  console.log(`::group::Log\n::stop-commands::${resume}`)
  const env = {
    ...process.env,
    PATH: [process.env.PATH, tools].join(delimiter),
    PROVING_GROUND_URL: site(),
    PROVING_GROUND_TOKEN: input('token'),
    PROVING_GROUND_START_FILE: file,
  }
  const cwd = process.env.GITHUB_WORKSPACE ?? '.'
  const child = spawn(process.execPath, [cli, ...words], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  // It stops the server, and exits.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill('SIGINT'))
  let said = ''
  let id: string | undefined
  child.stderr.on('data', (chunk) => {
    // One pipe keeps the order of the log and of what ends it.
    process.stdout.write(chunk)
    said = id ? `${said}${chunk}`.slice(-2_000) : `${said}${chunk}`
    if (id) return
    // It comes before anything that its program prints.
    id = /ses_[\w-]+(?= )/.exec(said)?.[0]
    if (id) tell('STATE', 'id', id)
  })
  const ended = new Promise<number>((done) => child.on('close', (code) => done(code ?? 125)))
  const [out, code] = await Promise.all([text(child.stdout), ended])
  console.log(`::${resume}::\n::endgroup::`)
  if (code === 125) console.log(`::error::${said.trimEnd().split('\n').at(-1)}`)
  return { code, result: out ? (JSON.parse(out) as Result) : null }
}

async function report({ server, exit_code, ended_because }: Result, code: number): Promise<void> {
  const kept = join(process.env.GITHUB_WORKSPACE ?? '.', input('keep'))
  tell('OUTPUT', 'id', server.id)
  tell('OUTPUT', 'exit-code', `${exit_code ?? ''}`)
  tell('OUTPUT', 'kept', input('keep') && existsSync(kept) ? input('keep') : '')
  const [from, until] = [server.billed_from, server.end_time].map((at) => Date.parse(at ?? '') / 1000)
  // The whole seconds of the clock, as the bill counts them.
  const ran = Math.max(0, Math.floor(until ?? 0) - Math.ceil(from ?? 0)) || 0
  const cost =
    server.cost_dollars === null
      ? ''
      : server.cost_dollars
        ? `, $${server.cost_dollars.toFixed(2)}`
        : ', covered by your plan'
  const how = ended_because === 'exited' ? `exit code ${exit_code}` : `it ended because: ${ended_because}`
  const word = code === 0 ? 'Passed' : 'Failed'
  const what = `${how}. ${ran} s on a ${server.instance_type}${cost}`
  const page = `${site()}/servers/${server.id}`
  console.log(`${code === 0 ? '' : '::error::'}${word}, ${what}. The server and its log: ${page}`)
  if (process.env.GITHUB_STEP_SUMMARY)
    appendFileSync(process.env.GITHUB_STEP_SUMMARY, `**${word}**, ${what}. [The server and its log](${page})\n`)
}
