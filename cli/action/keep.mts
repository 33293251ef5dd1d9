import { spawn } from 'node:child_process'
import { lstat, mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, delimiter, isAbsolute, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { fetchRclone } from './rclone.mts'
import { input, insist, show, site, Unanswered } from './site.mts'

/** What the command line exits with where there is no rclone, or one too old. */
const NO_RCLONE = 10

/** Uploads the folder of the input `keep` to the account's files, with the command line that the site serves. */
export async function keepFolder(): Promise<void> {
  if (!input('keep')) return
  const folder = resolve(process.env.GITHUB_WORKSPACE ?? '.', input('keep'))
  if (await findLink(input('keep'))) throw new Error(`${input('keep')} leads through a link, so we didn't keep it.`)
  const found = await stat(folder).catch(() => null)
  // A step that failed may not have made it.
  if (!found?.isDirectory()) return show('warning', `There is no folder ${input('keep')} to keep.`)
  const { GITHUB_REPOSITORY, GITHUB_RUN_ID, GITHUB_JOB } = process.env
  const to = ['ci', GITHUB_REPOSITORY, GITHUB_RUN_ID, GITHUB_JOB, basename(folder)].filter(Boolean).join('/')
  const tools = join(process.env.RUNNER_TEMP ?? tmpdir(), 'proving-ground')
  const cli = await fetchCommandLine(tools)
  const put = (...path: string[]) => run([cli, 'files', 'put', '--json', '--', folder, to], path)
  let { code, out } = await put()
  if (code === NO_RCLONE) {
    await fetchRclone(tools)
    ;({ code, out } = await put(tools))
  }
  if (code !== 0) throw new Error(`The folder ${input('keep')} was not kept.`)
  const { copied } = JSON.parse(out) as { copied: number }
  console.log(`Kept ${copied} ${copied === 1 ? 'file' : 'files'} in your files: ${to}`)
}

/**
 * A link on the way to this path of the job's folder, or below it if something will be written there. A pull request may
 * bring one, which leads to the runner's own files, or to those of git.
 */
export async function findLink(path: string, { below = false } = {}): Promise<boolean> {
  // Whoever wrote the workflow chose it.
  if (isAbsolute(path)) return false
  let at = process.env.GITHUB_WORKSPACE ?? '.'
  for (const name of path.split(/[\\/]/)) {
    at = join(at, name)
    if ((await lstat(at).catch(() => null))?.isSymbolicLink()) return true
  }
  const entries = below ? await readdir(at, { recursive: true, withFileTypes: true }).catch(() => []) : []
  return entries.some((entry) => entry.isSymbolicLink())
}

export async function fetchCommandLine(tools: string): Promise<string> {
  const url = `${site()}/cli/proving-ground.mjs`
  const program = await insist(async () => {
    const answer = await fetch(url, { signal: AbortSignal.timeout(30_000) }).catch(() => null)
    const bytes = answer?.ok ? await answer.text().catch(() => null) : null
    if (!bytes) throw new Unanswered(`${url} didn't answer.`)
    return bytes
  })
  await mkdir(tools, { recursive: true })
  await writeFile(join(tools, 'proving-ground.mjs'), program)
  return join(tools, 'proving-ground.mjs')
}

async function run(words: string[], before: string[]): Promise<{ code: number | null; out: string }> {
  const env = {
    ...process.env,
    PATH: [...before, process.env.PATH].join(delimiter),
    PROVING_GROUND_URL: site(),
    PROVING_GROUND_TOKEN: input('token'),
  }
  const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<number | null>((done) => child.on('close', done))
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  const code = await ended
  if (code !== NO_RCLONE) process.stderr.write(err)
  return { code, out }
}
