import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { temporaryFolder } from './at-end.ts'

/** Runs one of our jobs like GitHub's runner: its steps in order, and then the post steps, whatever happened. */

type Values = Record<string, string>
type Step = { id?: string; uses?: string; with?: Values; run?: string; env?: Values }
type Workflow = { jobs: Record<string, { steps: Step[] }> }
type Action = {
  inputs: Record<string, { default?: string; required?: boolean }>
  runs: { using: string; main: string; post: string; 'post-if': string }
}
type Job = {
  /** The workflow's text. */
  workflow: string
  /** The checked-out repository. */
  folder: string
  secrets: Values
  inputs?: Values
  env?: Values
  /**
   * Ends the current step and the job, with SIGINT, which a canceled job sends first. SIGTERM would follow only after 7.5
   * seconds, and then SIGKILL.
   */
  interrupt?: Promise<'SIGINT' | 'SIGKILL'>
}

/** Runs the workflow's only job. @returns what its steps printed, its summary, and whether all of them succeeded */
export async function runWorkflow({ workflow, folder, secrets, inputs = {}, env = {}, interrupt }: Job) {
  const [[name, job] = ['', null]] = Object.entries((parse(workflow) as Workflow).jobs)
  const github = { run_id: '42' }
  const outputs: Record<string, Values> = {}
  const fill = (text: string) =>
    text.replace(/\$\{\{ *([\w.-]+) *\}\}/g, (_, path: string) => {
      const [context, name = '', , output = ''] = path.split('.')
      const contexts: Record<string, Values> = { github, secrets, inputs }
      return (context === 'steps' ? outputs[name]?.[output] : contexts[context ?? '']?.[name]) ?? ''
    })
  const filled = (values: Values = {}) =>
    Object.fromEntries(Object.entries(values).map(([name, text]) => [name, fill(String(text))]))

  const temp = temporaryFolder('proving-ground-runner')
  let log = ''
  let ok = true
  let current: ChildProcess | null = null
  void interrupt?.then((signal) => {
    // It kills what a step started as well.
    if (signal === 'SIGKILL' && current?.pid) process.kill(-current.pid, signal)
    else current?.kill(signal)
  })
  const run = (program: string, args: string[], own: Values) => {
    const runner = {
      PATH: process.env.PATH ?? '',
      HOME: temp,
      RUNNER_TEMP: temp,
      // Reading the types of an action's files away takes longer than most steps.
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
      GITHUB_STEP_SUMMARY: join(temp, 'summary'),
      CI: 'true',
      GITHUB_ACTIONS: 'true',
      GITHUB_REPOSITORY: 'ada/drone',
      GITHUB_RUN_ID: github.run_id,
      GITHUB_JOB: name,
    }
    const child = spawn(program, args, { cwd: folder, env: { ...runner, ...env, ...own }, detached: true })
    child.stdout.on('data', (chunk) => (log += chunk))
    child.stderr.on('data', (chunk) => (log += chunk))
    current = child
    return new Promise<boolean>((done) => child.on('close', (code) => done(code === 0)))
  }
  /** Reads the `name=value` lines that a step wrote, as the runner does. */
  const read = (file: string): Values =>
    Object.fromEntries(
      (existsSync(file) ? readFileSync(file, 'utf8') : '')
        .split('\n')
        .filter(Boolean)
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    )

  const posts: (() => Promise<boolean>)[] = []
  for (const [i, step] of (job?.steps ?? []).entries()) {
    if (!ok) break
    const files = { GITHUB_OUTPUT: join(temp, `output-${i}`), GITHUB_STATE: join(temp, `state-${i}`) }
    for (const file of Object.values(files)) writeFileSync(file, '')
    let succeeded = true
    if (step.run) {
      // How the runner starts bash, by default.
      writeFileSync(join(temp, `${i}.sh`), fill(step.run))
      succeeded = await run('bash', ['-e', join(temp, `${i}.sh`)], { ...files, ...filled(step.env) })
    } else if (step.uses?.startsWith('./')) {
      const at = join(folder, step.uses)
      const action = parse(readFileSync(join(at, 'action.yml'), 'utf8')) as Action
      const given = filled(step.with)
      const values = Object.entries(action.inputs).map(([name, { default: value = '' }]) => [
        `INPUT_${name.toUpperCase()}`,
        given[name] ?? fill(value),
      ])
      const own = { ...files, ...filled(step.env), ...Object.fromEntries(values) }
      if (action.runs['post-if'] === 'always()')
        posts.unshift(() => {
          const state = Object.entries(read(files.GITHUB_STATE)).map(([name, value]) => [`STATE_${name}`, value])
          return run(process.execPath, [join(at, action.runs.post)], { ...own, ...Object.fromEntries(state) })
        })
      succeeded = await run(process.execPath, [join(at, action.runs.main)], own)
    }
    ok &&= succeeded
    if (step.id) outputs[step.id] = read(files.GITHUB_OUTPUT)
  }
  for (const post of posts) if (!(await post())) ok = false
  const summary = existsSync(join(temp, 'summary')) ? readFileSync(join(temp, 'summary'), 'utf8') : ''
  return { ok, log, summary }
}
