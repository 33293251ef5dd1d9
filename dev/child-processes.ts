import { execFileSync } from 'node:child_process'

/** The ids of the processes that this one started. */
export function childProcesses(): number[] {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  return table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter(([, parent]) => parent === process.pid)
    .map(([pid]) => pid as number)
}
