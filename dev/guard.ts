import { spawn } from 'node:child_process'

/** A shell, so that it takes little memory and outlives a kill of every Node process. */
const GUARD = `
  trap '' INT
  while read -r line; do
    [ "$line" = done ] && exit
    pids="$pids $line"
  done
  for pid in $pids; do
    # The guard is also a child of the stack.
    [ "$pid" = $$ ] || kill -9 "$pid"
  done`

/**
 * A small process that ends the stack's children if a kill prevents the stack from doing it. It waits for its pipe
 * to close. Without it, a SIGKILL would leave the database and workerd behind, holding their ports and files.
 */
export function startGuard(): { watch(pid: number): void; close(): void } {
  // By its path: the PATH may lead nowhere.
  const child = spawn('/bin/sh', ['-c', GUARD], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  child.unref()
  child.stdin.on('error', () => {})
  return {
    watch: (pid) => child.stdin.write(`${pid}\n`),
    close: () => child.stdin.end('done\n'),
  }
}
