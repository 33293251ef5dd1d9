import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../testing/stack/at-end.ts'
import { firstBoot, standIns } from '../../testing/stack/machine.ts'
import { hasNamespaces } from '../../testing/stack/machine-tools.ts'

const at = (name: string) => resolve(import.meta.dirname, '../../testing/stack', name)

test.skipIf(!hasNamespaces)(
  'a container reaches the internet and its visitors, but no metadata, no machine of ours, and no private network',
  async () => {
    const { script, words } = firstBoot('example.com/simulator:1')
    const file = join(temporaryFolder('isolation'), 'simulator.sh')
    writeFileSync(file, script)
    const programs = standIns(['docker', 'systemctl'])
    const { stdout } = await promisify(execFile)(
      'unshare',
      [
        ...['--map-root-user', '--net', '--mount', 'bash', at('machine-network.sh')],
        ...[process.execPath, at('machine-network.ts'), file, ...words],
      ],
      { env: programs.env },
    )
    const { before, after, rules } = JSON.parse(stdout)
    // Without the script, everything here is within reach: so it's the rules that refuse.
    expect(new Set(Object.values(before.container))).toEqual(new Set(['open']))
    expect(after.container).toEqual({
      '169.254.169.254:80': 'ECONNREFUSED',
      '[fd00:ec2::254]:80': 'ECONNREFUSED',
      '10.42.0.9:5173': 'ECONNREFUSED',
      '10.42.0.9:22': 'ECONNREFUSED',
      '192.168.7.7:22': 'ECONNREFUSED',
      '172.17.0.1:22': 'ECONNREFUSED',
      '10.42.0.5:22': 'ECONNREFUSED',
      '[fd00:17::1]:22': 'ECONNREFUSED',
      '[2001:db8::7]:443': 'ECONNREFUSED',
      '198.51.100.7:443': 'open',
    })
    expect([before.visitor, after.visitor]).toEqual([{ '10.42.0.5:5173': 'open' }, { '10.42.0.5:5173': 'open' }])
    // The machine itself read its tags, and a second start added no rule twice.
    expect(programs.calls().at(-1)).toContain('ENVIRONMENT=Blocks')
    expect(rules).toBe('9')
  },
)
