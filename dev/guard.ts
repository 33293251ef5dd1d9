import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/**
 * A small process that ends the stack's children if a kill prevents the stack from doing it. It waits for its pipe
 * to close. Without it, a SIGKILL would leave the database and workerd behind, holding their ports and files.
 */
export function startGuard(): { watch(pid: number): void; close(): void } {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  child.unref()
  child.stdin.on('error', () => {})
  return {
    watch: (pid) => child.stdin.write(`${pid}\n`),
    close: () => child.stdin.end('done\n'),
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  let received = ''
  process.on('SIGINT', () => {})
  process.stdin.on('data', (chunk) => {
    received += chunk
  })
  process.stdin.on('end', () => {
    const lines = received.split('\n').filter(Boolean)
    if (lines.includes('done')) return
    // The guard is also a child of the stack. It must end the others before itself.
    for (const pid of lines.map(Number).filter((pid) => pid !== process.pid)) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {}
    }
  })
}
