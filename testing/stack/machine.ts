import { spawn } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { publishedPorts } from '../../infra/image/user-data.ts'
import { temporaryFolder } from './at-end.ts'
import { userDataText } from './deployed-account.ts'
import { metadataService } from './metadata-service.ts'
import { serve } from './serve.ts'

const configs = new Map<string, string>()

/** What cloud-init writes and starts at the first boot of a machine with this default image. */
export function firstBoot(defaultImage: string): { config: string; script: string; words: string[] } {
  const config = configs.get(defaultImage) ?? gunzipSync(Buffer.from(userDataText(defaultImage), 'base64')).toString()
  configs.set(defaultImage, config)
  const block = /path: \/usr\/local\/sbin\/simulator\n.*\n {4}content: \|\n((?: {6}.*\n|\n)+)/.exec(config)?.[1] ?? ''
  const words = /ExecStart=\/usr\/local\/sbin\/simulator (.*)/.exec(config)?.[1] ?? ''
  return { config, script: block.replace(/^ {6}/gm, ''), words: words.split(' ') }
}

/** Writes down how it was called. As Docker, it has images and registries; as iptables, no rules yet. */
const FAKE = `#!/bin/bash
name=\${0##*/}
# In one write: a machine does things beside each other.
printf -v call '%s\\x1f' "$name" "$@"
printf '%s\\x1e' "$call" >>"$CALLS"
[[ $name != "$BROKEN" ]] || exit 1
case "$name $1" in
  'docker image') [[ -n $HAS_IMAGE ]] ;;
  'docker pull')
    left=$(<"$FAILING_PULLS")
    ((left == 0)) || { echo $((left - 1)) >"$FAILING_PULLS"; printf 'manifest for %s not found\\e[31m\\n' "$3" >&2; exit 1; } ;;
  'files load')
    [[ $LOADS != fails ]] || { for n in {1..400}; do echo "Unpacking $n"; done; echo 'the site answered 503' >&2; exit 1; } ;;
  'journalctl '*) printf 'Vulkan: no device\\n\\e[31mSegmentation fault\\n' ;;
  'mountpoint '*) [[ $LOADS == mounts ]] ;;
  'files work')
    # The first answers name images, and the last one a run, once the machine is ready.
    if [[ $2 == *true ]]; then printf '%s\n200' "$WORK"; else printf '{"run":null,"images":["example/mine:1",":mountains"],"every_seconds":2}\n200'; fi ;;
  *' --check') exit 1 ;;
esac
`

type Options = {
  tags?: Record<string, string>
  /** How many pulls fail before one works. */
  failingPulls?: number
  /** Whether the machine image already holds the container's. */
  hasImage?: boolean
  /** A program that fails. */
  broken?: string
  /** What `files load` does; without it, the machine's site has no files. */
  files?: 'mounts' | 'mounts nothing' | 'fails'
  /** What its site serves as the agent; 'another page': something on the way answers. */
  agent?: 'served' | 'another page' | 'missing'
  /** What its site tells a warm machine in the end. */
  work?: Record<string, string>
  /** What systemd sets. */
  variables?: Record<string, string>
}

/** A folder with stand-ins for these programs, and the variables that they and the machine's script read. */
export function standIns(
  names: string[],
  { failingPulls = 0, hasImage = false, broken = '', files, work }: Options = {},
) {
  const folder = temporaryFolder('machine')
  const at = (name: string) => join(folder, name)
  for (const name of names) {
    writeFileSync(at(name), FAKE)
    chmodSync(at(name), 0o755)
  }
  for (const name of ['calls', 'console']) writeFileSync(at(name), '')
  writeFileSync(at('failing-pulls'), `${failingPulls}`)
  return {
    env: {
      PATH: `${folder}:${process.env.PATH}:/usr/sbin:/sbin`,
      CALLS: at('calls'),
      CONSOLE: at('console'),
      FAILING_PULLS: at('failing-pulls'),
      HAS_IMAGE: hasImage ? 'yes' : '',
      BROKEN: broken,
      WORK: JSON.stringify(work ?? null),
      AGENT_FILE: at('agent.py'),
      PORTS: publishedPorts(),
      ...(files ? { SITE: 'http://127.0.0.1:1', FILES: at('files'), LOADS: files } : {}),
    },
    /** Each call, from the program's name on. */
    calls: () =>
      readFileSync(at('calls'), 'utf8')
        .split('\x1e')
        .filter(Boolean)
        .map((call) => call.split('\x1f').slice(0, -1)),
    console: () => readFileSync(at('console'), 'utf8'),
  }
}

/** A site that has this agent, as the variable that names it. */
async function siteWith(agent: NonNullable<Options['agent']>): Promise<Record<string, string>> {
  const text = agent === 'served' ? readFileSync('infra/image/agent.py') : '<!doctype html><title>Welcome</title>'
  const SITE = await serve((request, response) => {
    response.writeHead(agent !== 'missing' && request.url === '/machines/agent.py' ? 200 : 404).end(text)
  })
  return { SITE }
}

/** Boots a machine as far as its container, with a metadata service and stand-ins for what needs a real one. */
export async function bootMachine(defaultImage: string, options: Options = {}) {
  const { script } = firstBoot('example/any')
  const names = [
    'docker',
    'python3',
    'iptables',
    'ip6tables',
    'systemctl',
    'journalctl',
    'sleep',
    'files',
    'mountpoint',
  ]
  const programs = standIns(names, options)
  const metadata = metadataService(options.tags ?? {})
  await new Promise<void>((resolve) => metadata.listen(0, '127.0.0.1', resolve))
  const METADATA_URL = `http://127.0.0.1:${(metadata.address() as AddressInfo).port}`
  const site = options.agent ? await siteWith(options.agent) : {}
  const bash = spawn('bash', ['-s', '--', defaultImage], {
    env: { ...programs.env, ...site, ...options.variables, METADATA_URL },
  })
  bash.stdin.end(script)
  const code = await new Promise<number | null>((resolve) => bash.once('close', resolve))
  await new Promise((resolve) => metadata.close(resolve))
  return { code, calls: programs.calls(), console: programs.console() }
}
