import { spawnSync } from 'node:child_process'

/** Runs a command line on a terminal of its own, with Linux's `script`. */
export const onTerminal = (line: string): [program: string, args: string[]] => ['script', ['-qec', line, '/dev/null']]

/** Not on other systems, nor where a container has no pseudo-terminals. With CI=true, the tests that need one fail. */
export const hasTerminals = Boolean(process.env.CI) || spawnSync(...onTerminal('true')).status === 0
