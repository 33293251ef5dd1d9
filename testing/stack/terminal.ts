import { spawnSync } from 'node:child_process'

/** Runs a command line on its own terminal, with Linux's `script`. */
export const onTerminal = (line: string): [program: string, args: string[]] => ['script', ['-qec', line, '/dev/null']]

/** False on other systems, and in containers without pseudo-terminals. With CI=true, the tests that need one then fail. */
export const hasTerminals = Boolean(process.env.CI) || spawnSync(...onTerminal('true')).status === 0
