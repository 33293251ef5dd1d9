import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { childProcesses } from '../../dev/child-processes.ts'

async function started(title: string) {
  const script = `process.title = ${JSON.stringify(title)}; process.stdin.resume(); console.log('up')`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'ignore'] })
  const ended = once(child, 'exit')
  await once(child.stdout, 'data')
  return {
    pid: child.pid as number,
    async end() {
      child.stdin.end()
      await ended
    },
  }
}

test('lists a child until it ends, and neither grandchildren nor strangers', async () => {
  const child = await started('waits')
  expect(childProcesses().map(({ pid }) => pid)).toContain(child.pid)
  expect(childProcesses().map(({ pid }) => pid)).not.toContain(process.pid)
  expect(childProcesses(process.ppid).map(({ pid }) => pid)).toContain(process.pid)
  expect(childProcesses(process.ppid).map(({ pid }) => pid)).not.toContain(child.pid)
  await child.end()
  expect(childProcesses().map(({ pid }) => pid)).not.toContain(child.pid)
})

test.runIf(process.platform === 'linux')(
  'a name that mimics the rest of its line hides neither the process nor its parent',
  async () => {
    const child = await started('a) S 1 (b')
    expect(childProcesses()).toContainEqual({ pid: child.pid, command: 'a) S 1 (b' })
    await child.end()
  },
)

test('runs no other program on Linux', () => {
  const script = `import { childProcesses } from ${JSON.stringify(join(process.cwd(), 'dev/child-processes.ts'))}; console.log(JSON.stringify(childProcesses()))`
  const env = process.platform === 'linux' ? { PATH: '' } : process.env
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', script], { env, encoding: 'utf8' })
  expect(JSON.parse(said)).toEqual([])
})
