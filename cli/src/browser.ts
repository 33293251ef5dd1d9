import { spawn } from 'node:child_process'
import { note } from './terminal.ts'

/** If this fails, the address is still on the screen. */
export function openInBrowser(address: string): void {
  const [command, ...args] = {
    darwin: ['open'],
    win32: ['rundll32', 'url.dll,FileProtocolHandler'],
  }[process.platform as string] ?? ['xdg-open']
  const browser = spawn(command as string, [...args, address], { stdio: 'ignore', detached: true })
  browser.on('error', () => note('No browser opened. Open the address yourself.'))
  browser.unref()
}
