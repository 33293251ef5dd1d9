import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CACHE, type ThirdParty } from './third-party.ts'

/** The version that infra/image/files.sh installs. */
const VERSION = '1.75.1'
const OURS = join(CACHE, `rclone-${VERSION}`)

/** The real rclone: RCLONE, otherwise the one in .cache. */
export const rclone: ThirdParty = {
  name: `rclone ${VERSION}`,
  find: () => [process.env.RCLONE || join(OURS, 'rclone')].find((path) => existsSync(path)) ?? null,
  install: [['go', 'install', '-ldflags=-s', `github.com/rclone/rclone@v${VERSION}`]],
  env: { GOBIN: OURS, CGO_ENABLED: '0' },
}
