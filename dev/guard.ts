import { spawn } from 'node:child_process'

/** A shell, so that it takes little memory and outlives a kill of every Node process. */
const GUARD = `
  trap '' INT
  while read -r line; do
    case $line in
      done) exit ;;
      -*)
        kept=
        for pid in $pids; do
          [ "-$pid" = "$line" ] || kept="$kept $pid"
        done
        pids=$kept ;;
      *) pids="$pids $line" ;;
    esac
  done
  for pid in $pids; do
    # The guard is also a child of the stack.
    [ "$pid" = $$ ] || kill -9 "$pid"
  done`

export type Guard = {
  watch(pid: number): void
  /** After the process has ended, before another one gets its number. */
  forget(pid: number): void
  close(): void
}

/**
 * A small process that ends the stack's children if a kill prevents the stack from doing it. It waits for its pipe
 * to close. Without it, a SIGKILL would leave the database and workerd behind, holding their ports and files.
 */
export function startGuard(): Guard {
  // By its path: the PATH may lead nowhere.
  const child = spawn('/bin/sh', ['-c', GUARD], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  child.unref()
  child.stdin.on('error', () => {})
  return {
    watch: (pid) => child.stdin.write(`${pid}\n`),
    forget: (pid) => child.stdin.write(`-${pid}\n`),
    close: () => child.stdin.end('done\n'),
  }
}
