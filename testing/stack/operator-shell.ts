import { execFile, execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { temporaryFolder } from './at-end.ts'

const ROOT = resolve(import.meta.dirname, '../..')

/** What is not on this machine, or would cost money: each writes down how it was called. */
const STAND_INS = {
  /** Clones this repository as it is, uncommitted changes included. */
  git: `if [ "$1" = clone ]; then cp -R "$PRODUCT" "$3"; else exec "$REAL_GIT" "$@"; fi`,
  /** Its scripts are the real ones. Nothing checks or installs the code again. */
  npm: `case "$1 $2" in
  'ci ') mkdir node_modules && ln -s "$ROOT"/node_modules/* "$ROOT/node_modules/.bin" node_modules ;;
  'run check') ;;
  'run '*)
    script=$("$NODE" -p "require('./package.json').scripts['$2']")
    shift 2; [ "$1" != -- ] || shift
    sh -c "exec $script \\"\\$@\\"" sh "$@" ;;
  *) exit 64 ;;
esac`,
  npx: 'exec "$@"',
  node: 'exec "$NODE" --import "$PRELOAD" "$@"',
  /** Without a database, until one is created. */
  turso: `case "$*" in
  'auth login' | '--version' | 'group create '*) ;;
  'db show '*' --url') [ -e "$STATE/database" ] && echo "$DATABASE_URL" ;;
  'db create '*) touch "$STATE/database" ;;
  'db tokens create '*) echo token ;;
  *) exit 64 ;;
esac`,
  wrangler: `case "$*" in
  login | 'email sending enable '*) ;;
  'deploy --dry-run --env '*) ;;
  'deploy --env '*' --secrets-file '*) echo "$*" | sed 's/.*VERSION:\\([^ ]*\\).*/\\1/' >"$STATE/version" ;;
  *) exit 64 ;;
esac`,
  docker: `case "$*" in 'login '* | 'buildx build --push '*) ;; *) exit 64 ;; esac`,
  aws: `[ "$1" = configure ] || exec "$REAL_AWS" "$@"`,
}

export type OperatorShell = Awaited<ReturnType<typeof openOperatorShell>>

/** An empty folder, and a shell in it whose sites and vendors are stand-ins. `site` answers for every https address. */
export function openOperatorShell(variables: { AWS_ENDPOINT_URL: string; DATABASE_URL: string; site: string }) {
  const folder = temporaryFolder('operator')
  const [programs, state, product] = ['programs', 'state', 'product'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  for (const path of [programs, state]) mkdirSync(path)
  const calls = join(state, 'calls')
  for (const [name, script] of Object.entries(STAND_INS)) {
    writeFileSync(join(programs, name), `#!/bin/sh\necho "${name} $*" >>"${calls}"\n${script}\n`)
    chmodSync(join(programs, name), 0o755)
  }
  copyProduct(product)
  const preload = join(folder, 'preload.mjs')
  writeFileSync(
    preload,
    `const real = fetch
globalThis.fetch = (url, options) => real(typeof url === 'string' ? url.replace(/^https:\\/\\/[^/]*/, ${JSON.stringify(variables.site)}) : url, options)\n`,
  )
  const which = (name: string) => execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim()
  const { site: _, ...given } = variables
  const env = {
    PATH: `${programs}:${process.env.PATH}`,
    HOME: folder,
    ...given,
    ...{ ROOT, PRODUCT: product, STATE: state, PRELOAD: preload, NODE: process.execPath },
    ...{ REAL_GIT: which('git'), REAL_AWS: which('aws') },
    ...{ AWS_ACCESS_KEY_ID: 'root', AWS_SECRET_ACCESS_KEY: 'root', DEPLOY_WAIT_MS: '0' },
    ...Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((who) => [
        [`GIT_${who}_NAME`, 'Ada'],
        [`GIT_${who}_EMAIL`, 'ada@sims.test'],
      ]),
    ),
  }
  let cwd = folder
  return {
    inProduct: (name: string) => join(folder, 'proving-ground', name),
    version: () => readFileSync(join(state, 'version'), 'utf8').trim(),
    calls: () => readFileSync(calls, 'utf8').trim().split('\n'),
    /** As one line of a document says. */
    async type(command: string, more: Record<string, string> = {}) {
      const entered = /^cd (\S+)$/.exec(command)?.[1]
      if (entered) {
        cwd = resolve(cwd, entered)
        return { ok: true, said: '' }
      }
      return promisify(execFile)('sh', ['-c', command], { cwd, env: { ...env, ...more } }).then(
        ({ stdout, stderr }) => ({ ok: true, said: (stdout + stderr).trim() }),
        ({ stdout, stderr }: { stdout: string; stderr: string }) => ({ ok: false, said: (stdout + stderr).trim() }),
      )
    },
  }
}

/** A repository with this one's files, and one commit. */
function copyProduct(to: string): void {
  const git = (cwd: string, ...words: string[]) => execFileSync('git', words, { cwd, encoding: 'utf8' })
  const files = git(ROOT, 'ls-files', '--cached', '--others', '--exclude-standard', '-z').split('\0').filter(Boolean)
  for (const file of files) {
    if (/^(test|docs\/screens|public\/film)\//.test(file)) continue
    mkdirSync(dirname(join(to, file)), { recursive: true })
    cpSync(join(ROOT, file), join(to, file), { force: true })
  }
  symlinkSync(join(ROOT, 'test'), join(to, 'test'))
  git(to, 'init', '--quiet')
  git(to, 'add', '.')
  git(to, '-c', 'user.name=Ada', '-c', 'user.email=ada@sims.test', 'commit', '--quiet', '--message', 'The product')
}
