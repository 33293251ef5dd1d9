import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { userData } from '../../infra/image/user-data.ts'
import { TCP_PORTS } from '../../src/domain/machine-ports.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'
import { bootMachine, firstBoot } from '../../testing/stack/machine.ts'
import { hasMachineTools } from '../../testing/stack/machine-tools.ts'

const DEFAULT = 'ghcr.io/example/simulator:1.2'
const DIGEST = `sha256:${'0'.repeat(64)}`

type Booted = Awaited<ReturnType<typeof bootMachine>>
const dockerRuns = ({ calls }: Booted) => calls.filter(([program, verb]) => program === 'docker' && verb === 'run')
const pulled = ({ calls }: Booted) => calls.flatMap(([, verb, , image]) => (verb === 'pull' ? [image] : []))
const off = ({ calls }: Booted) => calls.some((call) => call.join(' ') === 'systemctl poweroff')

test('the first boot installs the script, and a unit that runs it with the default image', () => {
  const { config, script, words } = firstBoot(DEFAULT)
  expect(config).toMatch(/^#cloud-config\n/)
  expect(config).not.toMatch(/@[A-Z]+@/)
  expect(script).toMatch(/^#!\/bin\/bash\n[\s\S]+\nexec docker run /)
  expect(words).toEqual([DEFAULT])
  // The simulator ends first, and what it wrote is saved after that, for two minutes at most.
  expect(config).toMatch(/After=.*docker\.service data\.service\n/)
  expect(config).toMatch(/ExecStop=-\/usr\/local\/sbin\/files save\n.*\n? *TimeoutStopSec=120/s)
  expect(config).not.toMatch(/AccessKey|SecretKey/i)
})

test('a site serves its agent to the machines of every zone, however long ago it was deployed', async () => {
  const { config, script } = firstBoot(DEFAULT)
  expect(config).toMatch(/^ *Environment=SITE=https:\/\/\S+$/m)
  expect(script).toContain('"$SITE/machines/agent.py"')
  const served = await fetch(`${inject('url')}/machines/agent.py`)
  const own = readFileSync(resolve(import.meta.dirname, '../../infra/image/agent.py'), 'utf8')
  expect([served.status, served.headers.get('cache-control')]).toEqual([200, 'public, max-age=0, must-revalidate'])
  expect(await served.text()).toBe(own)
})

test('a stop reaches the agent before the container', () => {
  const { config } = firstBoot(DEFAULT)
  const stop = /ExecStop=-\/usr\/bin\/pkill --full "(.+)"\n *ExecStop=-\/usr\/bin\/docker stop -t 30 simulator\n/.exec(
    config,
  )
  expect('python3 /run/agent.py --gpus all').toMatch(new RegExp(stop?.[1] ?? 'none'))
})

test('fits the first boot into two parameters, and refuses anything that is not an image', () => {
  // CloudFormation's limit for a parameter.
  const parameters = userData(`example.com/${'i'.repeat(170)}@sha256:${'0'.repeat(64)}`)
  expect(Object.keys(parameters)).toEqual(['UserData', 'UserDataRest'])
  for (const value of Object.values(parameters)) expect(value.length).toBeLessThanOrEqual(4096)
  for (const wrong of ['', 'image; reboot', 'image\nExecStart=', '--privileged', '$(id)'])
    expect(() => userData(wrong)).toThrow("isn't a container image")
  expect(() => userData('example.com/sim:1', 'https://site.test/')).toThrow("isn't a site's origin")
})

describe.skipIf(!hasMachineTools)('the script that starts the container', () => {
  test('runs the image of the tags, with the environment and the vehicle, and nothing from the machine', async () => {
    const tags = { environment: 'Mountains', vehicle: 'ugv', image: `ghcr.io/example/mountains@${DIGEST}` }
    const booted = await bootMachine(DEFAULT, { tags })
    expect(pulled(booted)).toEqual([tags.image])
    expect(dockerRuns(booted)).toEqual([
      [
        ...['docker', 'run', '--rm', '--name', 'simulator', '--log-driver', 'none', '--gpus', 'all'],
        ...[5173, ...TCP_PORTS].flatMap((port) => ['--publish', `${port}:${port}`]),
        ...['--cap-drop', 'ALL', '--security-opt', 'no-new-privileges', '--dns', '1.1.1.1', '--dns', '8.8.8.8'],
        ...['--env', 'ENVIRONMENT=Mountains', '--env', 'VEHICLE=ugv', tags.image],
      ],
    ])
    expect(booted.code).toBe(0)
    expect(off(booted)).toBe(false)
  })

  test.each([
    [DEFAULT, undefined, DEFAULT],
    [DEFAULT, ':mountains-2', 'ghcr.io/example/simulator:mountains-2'],
    [`localhost:5000/simulator@${DIGEST}`, ':mountains', 'localhost:5000/simulator:mountains'],
    [`simulator:1@${DIGEST}`, ':mountains', 'simulator:mountains'],
    [DEFAULT, 'example/other', 'example/other'],
  ])('on a machine with %s, the tag image %s runs %s', async (byDefault, image, runs) => {
    const booted = await bootMachine(byDefault, { tags: image ? { image } : {} })
    expect(pulled(booted)).toEqual([runs])
    expect(dockerRuns(booted).map((call) => call.at(-1))).toEqual([runs])
  })

  test('does not pull an image that the machine already has', async () => {
    const booted = await bootMachine(DEFAULT, { hasImage: true, failingPulls: 9 })
    expect(pulled(booted)).toEqual([])
    expect(dockerRuns(booted)).toHaveLength(1)
  })

  test.each([
    ['environment', 'Mountains; reboot'],
    ['environment', '$(reboot)'],
    ['environment', 'a\nLD_PRELOAD=/x'],
    ['environment', '-v/:/host'],
    ['environment', 'Môntains'],
    ['environment', 'M'.repeat(41)],
    ['vehicle', 'uav --privileged'],
    ['vehicle', 'UAV\n'],
    ['image', '--privileged'],
    ['image', 'example/sim --network=host'],
    ['image', 'example/`reboot`'],
    ['image', 'i'.repeat(257)],
  ])('refuses the tag %s = %j: runs nothing, and ends the machine', async (tag, value) => {
    const booted = await bootMachine(DEFAULT, { tags: { [tag]: value } })
    expect(booted.calls).toEqual([['systemctl', 'poweroff']])
    expect(booted.console).toMatch(new RegExp(`^simulator: refused the tag ${tag}: [ -~]*\n$`))
    expect(booted.code).toBe(1)
  })

  test('a warm machine pulls the catalog behind its firewall, waits for its run, and does what the site says', async () => {
    const work = { run: 'ses_1', environment: 'Mountains', vehicle: 'ugv', image: ':mountains', agent: '' }
    const booted = await bootMachine(DEFAULT, { tags: { warm: 'yes' }, files: 'mounts nothing', work })
    const order = booted.calls.map((call) => call.slice(0, 2).join(' '))
    expect(order.indexOf('iptables --insert')).toBeLessThan(order.indexOf('files work'))
    expect(order).toContain('files prepare')
    expect(order.lastIndexOf('files work')).toBeLessThan(order.indexOf('files load'))
    const others = [DEFAULT, 'example/mine:1', 'ghcr.io/example/simulator:mountains']
    expect(pulled(booted).slice(0, 3)).toEqual(others)
    expect(dockerRuns(booted).map((call) => call.slice(-5))).toEqual([
      ['--env', 'ENVIRONMENT=Mountains', '--env', 'VEHICLE=ugv', 'ghcr.io/example/simulator:mountains'],
    ])
  })

  test('a warm machine that is ready kills nothing, since another process may have that ID by now', async () => {
    const work = { run: 'ses_1', environment: 'Mountains', vehicle: 'ugv', image: '', agent: '' }
    const kill = `() { printf 'kill\\x1f%s\\x1f\\x1e' "$1" >>"$CALLS"; builtin kill "$@"; }`
    const booted = await bootMachine(DEFAULT, {
      tags: { warm: 'yes' },
      files: 'mounts nothing',
      work,
      variables: { 'BASH_FUNC_kill%%': kill },
    })
    const kills = booted.calls.filter(([program]) => program === 'kill')
    expect(new Set(kills.map(([, what]) => what))).toEqual(new Set(['-0']))
  })

  test('a warm machine refuses what could not be a tag of ours', async () => {
    const work = { run: 'ses_1', environment: '-v/:/host', vehicle: 'ugv', image: '', agent: '' }
    const booted = await bootMachine(DEFAULT, { tags: { warm: 'yes' }, files: 'mounts nothing', work })
    expect([dockerRuns(booted), off(booted)]).toEqual([[], true])
  })

  test('pulls again when a registry fails for a moment', async () => {
    const booted = await bootMachine(DEFAULT, { failingPulls: 2 })
    expect(pulled(booted)).toEqual([DEFAULT, DEFAULT, DEFAULT])
    expect(dockerRuns(booted)).toHaveLength(1)
  })

  test('ends the machine when the image cannot be pulled, and says why on its console', async () => {
    const booted = await bootMachine(DEFAULT, { failingPulls: 3, tags: { image: 'example/gone:1' } })
    expect(dockerRuns(booted)).toEqual([])
    expect(off(booted)).toBe(true)
    expect(booted.console).toBe('simulator: cannot pull example/gone:1: manifest for example/gone:1 not found [31m\n')
  })

  test('leaves the container to the agent that its site serves', async () => {
    const options = { tags: { image: 'example/sim:1' }, files: 'mounts' } as const
    const alone = await bootMachine(DEFAULT, options)
    const booted = await bootMachine(DEFAULT, { ...options, agent: 'served' })
    const [, ...words] = booted.calls.at(-1) ?? []
    expect([booted.code, booted.calls.at(-1)?.[0], words[0]]).toEqual([
      0,
      'python3',
      expect.stringMatching(/agent\.py$/),
    ])
    // It gets what `docker run` would have got, and nothing of the machine's reaches Docker before.
    expect(words.slice(1)).toEqual(dockerRuns(alone)[0]?.slice(7))
    expect(booted.calls.filter(([program]) => program === 'docker')).toEqual([])
    const order = booted.calls.map((call) => call.slice(0, 2).join(' '))
    expect(order.indexOf('iptables --insert')).toBeLessThan(order.indexOf('files load'))
  })

  test.each(['another page', 'missing'] as const)('starts without the agent where its site has: %s', async (agent) => {
    const booted = await bootMachine(DEFAULT, { files: 'mounts nothing', agent })
    expect([booted.code, dockerRuns(booted).length]).toEqual([0, 1])
    expect(booted.calls.filter(([program]) => program === 'python3')).toEqual([])
  })

  test.each(['another page', 'missing'] as const)(
    'a container that must be told something does not start where its site has: %s; the machine tries again',
    async (agent) => {
      const booted = await bootMachine(DEFAULT, { files: 'mounts nothing', agent, tags: { agent: 'required' } })
      expect([booted.code, dockerRuns(booted), off(booted)]).toEqual([1, [], false])
    },
  )

  test('starts without the agent after it failed', async () => {
    const died = { SERVICE_RESULT: 'exit-code', EXIT_CODE: 'exited', EXIT_STATUS: '1' }
    const AGENT_FILE = join(temporaryFolder('agent'), 'agent.py')
    const boot = (image: string, variables = {}) =>
      bootMachine(image, { files: 'mounts nothing', agent: 'served', variables: { AGENT_FILE, ...variables } })
    expect(dockerRuns(await boot(DEFAULT))).toHaveLength(0)
    // The one from before is better than none.
    const without = await bootMachine(DEFAULT, {
      ...{ files: 'mounts nothing', agent: 'missing', tags: { agent: 'required' } },
      variables: { AGENT_FILE },
    })
    expect([without.code, without.calls.at(-1)?.[0]]).toEqual([0, 'python3'])
    await boot('--ended', { ...died, SERVICE_RESULT: 'success' })
    expect(dockerRuns(await boot(DEFAULT))).toHaveLength(0)
    await boot('--ended', died)
    expect(dockerRuns(await boot(DEFAULT))).toHaveLength(1)
  })

  test('gives the container the files, once they are there', async () => {
    const booted = await bootMachine(DEFAULT, { files: 'mounts' })
    expect(dockerRuns(booted)[0]?.join(' ')).toContain(' --volume /data:/data --env ENVIRONMENT=')
    const order = booted.calls.map((call) => call.slice(0, 2).join(' '))
    expect(order.indexOf('files load')).toBeLessThan(order.indexOf('docker pull'))
  })

  test('starts without files where the site has none', async () => {
    const booted = await bootMachine(DEFAULT, { files: 'mounts nothing' })
    expect(dockerRuns(booted)[0]).not.toContain('--volume')
  })

  test('ends the machine when the files cannot be loaded, and runs nothing', async () => {
    const booted = await bootMachine(DEFAULT, { files: 'fails' })
    expect([dockerRuns(booted), off(booted)]).toEqual([[], true])
    // After hundreds of lines of the programs that it installs.
    expect(booted.console).toMatch(/^simulator: cannot load the files: .* Unpacking 400 the site answered 503\n$/)
    expect(booted.console.length).toBeLessThan(600)
  })

  test.each(['iptables', 'ip6tables'])('runs nothing without its firewall: %s fails', async (broken) => {
    const booted = await bootMachine(DEFAULT, { broken })
    expect(dockerRuns(booted)).toEqual([])
    expect(off(booted)).toBe(false)
    expect(booted.code).not.toBe(0)
    expect(booted.console).toMatch(/^simulator: line \d+ failed: /)
  })

  test('keeps its output once, in a journal with a limit', async () => {
    const { config } = firstBoot(DEFAULT)
    expect(config).toContain('SystemMaxUse=1G')
    expect(config).toMatch(/restart, systemd-journald/)
    // rclone's own words, next to the machine's.
    expect(config).toContain('StandardError=journal+console')
    expect(config).toContain('ExecStopPost=-/usr/local/sbin/simulator --ended\n')
  })

  test('says on the console what it died of, and nothing after a stop', async () => {
    const died = { SERVICE_RESULT: 'exit-code', EXIT_CODE: 'exited', EXIT_STATUS: '139' }
    const ended = await bootMachine('--ended', { variables: died })
    expect([ended.code, ended.calls.map(([name]) => name)]).toEqual([0, ['journalctl']])
    expect(ended.console).toBe(
      'simulator: ended: exited 139. Its last lines:\nsimulator: Vulkan: no device\nsimulator:  [31mSegmentation fault\n',
    )
    const stopped = await bootMachine('--ended', { variables: { ...died, SERVICE_RESULT: 'success' } })
    expect([stopped.code, stopped.console]).toEqual([0, ''])
  })
})
