import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CACHE, type ThirdParty } from './third-party.ts'

/** @param given another program, from the environment */
function version(number: string, given?: string): ThirdParty {
  const ours = join(CACHE, `rclone-${number}`)
  return {
    name: `rclone ${number}`,
    find: () => [given || join(ours, 'rclone')].find((path) => existsSync(path)) ?? null,
    install: [['go', 'install', '-ldflags=-s', `github.com/rclone/rclone@v${number}`]],
    env: { GOBIN: ours, CGO_ENABLED: '0' },
  }
}

/** The real rclone: RCLONE, otherwise the one in .cache. It has the version that infra/image/files.sh installs. */
export const rclone = version('1.75.1', process.env.RCLONE)

/** The oldest that the command line takes. */
export const oldestRclone = version('1.69.0')
