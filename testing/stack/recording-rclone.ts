import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from './at-end.ts'

type Recorded = {
  args: string[]
  env: Record<string, string>
  /** What its AWS_CONFIG_FILE says, and what the command in it prints. */
  config: string
  credentials: string
}

export const listing = (count: number) => `console.log('{"count":${count},"bytes":4,"sizeless":0}')`

/**
 * A program in place of rclone that writes down how it was called, on a PATH with nothing else.
 * @param options `lists`: what `rclone size` does, which isn't written down
 */
export function recordingRclone({ version = 'v1.69.0', ends = 'process.exit(0)', lists = listing(1) } = {}) {
  const folder = temporaryFolder('recording-rclone')
  const record = join(folder, 'record.json')
  const program = join(folder, 'record.cjs')
  writeFileSync(
    program,
    `
const { execSync } = require('node:child_process')
const { readFileSync, writeFileSync } = require('node:fs')
if (process.argv[2] === 'size') {
  ${lists}
  process.exit(0)
}
const config = readFileSync(process.env.AWS_CONFIG_FILE, 'utf8')
const shell = '/bin/sh'
const credentials = execSync(/credential_process = (.*)/.exec(config)[1], { encoding: 'utf8', shell })
writeFileSync(${JSON.stringify(record)}, JSON.stringify({ args: process.argv.slice(2), env: process.env, config, credentials }))
const stats = { bytes: 4, totalBytes: 4, transfers: 3, totalTransfers: 3, deletes: 1 }
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
