import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from './at-end.ts'

type Recorded = {
  args: string[]
  env: Record<string, string>
  /** What its AWS_CONFIG_FILE says, and what the command in it prints. */
  config: string
  credentials: string
  /** What the file of its `--files-from-raw` says. */
  names: string | null
  /** Of all calls that it wrote down. */
  verbs: string[]
}

/**
 * A program in place of rclone that writes down how it was called, on a PATH with nothing else.
 * @param options `lists`: what `rclone lsf` does, which isn't written down, as a dry run isn't; `extra`: what a sync would
 * delete
 */
export function recordingRclone({
  version = 'v1.69.0',
  ends = 'process.exit(0)',
  lists = '',
  copies = 3,
  extra = [] as string[],
} = {}) {
  const folder = temporaryFolder('recording-rclone')
  const record = join(folder, 'record.json')
  const program = join(folder, 'record.cjs')
  writeFileSync(
    program,
    `
const { execSync } = require('node:child_process')
const { existsSync, readFileSync, writeFileSync } = require('node:fs')
const args = process.argv.slice(2)
if (args[0] === 'lsf') {
  ${lists}
  process.exit(0)
}
if (args.includes('--dry-run')) {
  for (const object of ${JSON.stringify(extra)})
    console.error(JSON.stringify({ level: 'notice', msg: 'Skipped delete', skipped: 'delete', object }))
  process.exit(0)
}
const config = readFileSync(process.env.AWS_CONFIG_FILE, 'utf8')
const shell = '/bin/sh'
const credentials = execSync(/credential_process = (.*)/.exec(config)[1], { encoding: 'utf8', shell })
const record = ${JSON.stringify(record)}
const verbs = [...(existsSync(record) ? JSON.parse(readFileSync(record, 'utf8')).verbs : []), args[0]]
const given = args.indexOf('--files-from-raw') + 1
const names = given ? readFileSync(args[given], 'utf8') : null
writeFileSync(record, JSON.stringify({ args, env: process.env, config, credentials, names, verbs }))
const stats = { bytes: ${copies}, totalBytes: 4, transfers: ${copies}, totalTransfers: 3, checks: 0, deletes: 1 }
console.error(JSON.stringify({ level: 'notice', msg: 'Transferred', stats }))
${ends}
`,
  )
  // Each command asks for the version first: a shell answers with a tenth of Node's time.
  const shell = `#!/bin/sh
if [ "$1" = version ]; then printf 'rclone %s\\n- os/version: any\\n' '${version}'; exit; fi
exec '${process.execPath}' '${program}' "$@"
`
  writeFileSync(join(folder, 'rclone'), shell, { mode: 0o755 })
  return { PATH: folder, recorded: () => JSON.parse(readFileSync(record, 'utf8')) as Recorded, record }
}
