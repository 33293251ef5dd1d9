import { spawnSync } from 'node:child_process'

/** Whether this machine has these programs. With CI=true, the tests that need one then fail. */
export const hasPrograms = (...names: string[]) =>
  Boolean(process.env.CI) || names.every((name) => spawnSync(name, ['--version']).status === 0)
