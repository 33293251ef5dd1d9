import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../testing/stack/at-end.ts'
import { hasNamespaces } from '../../testing/stack/machine-tools.ts'

const SCRIPT = resolve(import.meta.dirname, '../../infra/image/local-disk.sh')
const MOVED = ['/var/lib/docker', '/var/lib/containerd', '/var/cache/files']

type Machine = { device?: string; size?: string; docker?: string; isMounted?: boolean }

/** A machine's first boot, a reboot, and a start with an empty disk, with mounts of their own. @returns what is on the disk after each */
function boot({
  device = 'nvme-Amazon_EC2_NVMe_Instance_Storage_AWS1',
  size = '9000G',
  docker = '',
  isMounted = true,
}: Machine) {
  const folder = temporaryFolder('local-disk')
  const at = (name: string) => join(folder, name)
  writeFileSync(at(device), '')
  for (const [name, text] of Object.entries({ docker, systemctl: '', sleep: '' }))
    writeFileSync(at(name), `#!/bin/bash\necho "\${0##*/} $*" >>'${at('calls')}'\n${text}`, { mode: 0o755 })
  const steps = `
    mount -t tmpfs var /var && mkdir -p /var/lib/docker '${at('disk')}'
    local_disk() { bash '${SCRIPT}' "$@"; for one in ${MOVED.join(' ')}; do findmnt -n -o FSROOT --mountpoint $one; done; echo --; }
    fresh() { ${isMounted ? `mount -t tmpfs -o size=${size} disk '${at('disk')}'` : ':'}; }
    reboot() { umount ${MOVED.join(' ')}; }
    fresh; local_disk first; reboot 2>&-; local_disk; reboot 2>&-; umount '${at('disk')}' 2>&-; fresh; local_disk`
  const { stdout } = spawnSync('unshare', ['--map-root-user', '--mount', 'bash', '-c', steps], {
    encoding: 'utf8',
    env: { PATH: `${folder}:${process.env.PATH}`, LOCAL_DISK: at('disk'), DEVICES: folder, CONSOLE: at('console') },
  })
  const lines = (name: string) => (existsSync(at(name)) ? readFileSync(at(name), 'utf8').trim().split('\n') : [])
  return {
    after: stdout.split('--\n', 3).map((moved) => moved.split('\n').filter(Boolean)),
    said: lines('console'),
    calls: lines('calls').filter((call) => !call.startsWith('sleep')),
  }
}

describe.skipIf(!hasNamespaces)("a machine's own disk", () => {
  test("takes Docker's data and the cache of the files, until the machine is another", () => {
    const { after, said, calls } = boot({})
    expect(after).toEqual([MOVED, MOVED, []])
    expect(said).toEqual([...MOVED, ...MOVED].map((folder) => `local-disk: ${folder} is on the local disk`))
    // Docker may only stop before its data moves. cloud-init starts it again.
    expect(calls).toEqual(['docker image ls --quiet', 'systemctl stop docker.socket docker containerd'])
  })

  test.each<[string, Machine, string]>([
    ['that is smaller than the root disk', { size: '1M' }, 'the root disk has more room'],
    [
      'beside images of the machine image',
      { docker: 'echo c0ffee' },
      'kept the images of the machine image on the root disk',
    ],
    ['while Docker does not answer', { docker: 'exit 1' }, 'could not list the images'],
    ['that nothing has mounted', { isMounted: false }, 'nothing is mounted at'],
  ])('%s is left alone', (_, machine, why) => {
    const { after, said, calls } = boot(machine)
    expect(after).toEqual([[], [], []])
    expect(said[0]).toContain(why)
    expect(calls.filter((call) => call.startsWith('systemctl'))).toEqual([])
  })

  test('that does not exist changes and says nothing', () => {
    expect(boot({ device: 'nvme-Amazon_Elastic_Block_Store_vol1' })).toEqual({
      after: [[], [], []],
      said: [],
      calls: [],
    })
  })
})
