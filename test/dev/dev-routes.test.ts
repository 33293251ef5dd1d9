import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openClock } from '../../dev/clock.ts'
import { devRoutes } from '../../dev/dev-routes.ts'
import type { Services } from '../../dev/services.ts'

test.each([1e20, 1e300, -1, '60', null])(
  'the clock rejects %j and keeps running, also after a restart',
  async (advance_seconds) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'proving-ground-clock-'))
    onTestFinished(() => rmSync(dataDir, { recursive: true }))
    const path = join(dataDir, 'clock')
    const routes = devRoutes({ clock: openClock(path) } as Services, async () => {})
    const advance = (seconds: unknown) =>
      routes.request('/dev/clock', { method: 'POST', body: JSON.stringify({ advance_seconds: seconds }) })

    expect((await advance(90)).status).toBe(200)
    expect((await advance(advance_seconds)).status).toBe(400)
    expect(openClock(path).offset()).toBe(90_000)
    expect((await advance(10)).status).toBe(200)
  },
)
