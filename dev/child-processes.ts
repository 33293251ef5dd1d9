import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

export type ChildProcess = { pid: number; command: string }

/** Lists a process's children. Linux has them in /proc and often lacks `ps`; macOS has `ps`. */
export function childProcesses(parent = process.pid): ChildProcess[] {
  return (process.platform === 'linux' ? fromProc() : fromPs())
    .filter((row) => row.parent === parent)
    .map(({ pid, command }) => ({ pid, command }))
}

type Row = ChildProcess & { parent: number }

function fromProc(): Row[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.flatMap((pid) => {
    try {
      // "7 (a name (with) anything) S 1 …": the parent is the second field after the last parenthesis.
      const [, command = '', parent] = /^\d+ \((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
      return [{ pid: Number(pid), command, parent: Number(parent) }]
    } catch {
      // It ended after we listed it.
      return []
    }
  })
}

function fromPs(): Row[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,comm='], { encoding: 'utf8' }).trim().split('\n')
  return lines.map((line) => {
    const [, pid, parent, path = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
    return { pid: Number(pid), command: path.slice(path.lastIndexOf('/') + 1), parent: Number(parent) }
  })
}
