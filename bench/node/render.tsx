import { renderToString } from 'react-dom/server'
import { SAMPLE_SERVER } from '../../dev/sample-server.ts'
import { NEWEST_FIRST, pageInstances } from '../../src/domain/instance-view.ts'
import type { Server } from '../../src/domain/wire/fleet.ts'
import { worldsFor } from '../../src/domain/worlds.ts'
import { Console } from '../../src/pages/Console.tsx'
import { Dashboard } from '../../src/pages/Dashboard.tsx'
import { Layout } from '../../src/pages/Layout.tsx'
import { manyInstances } from '../../testing/instances.ts'
import { median } from '../median.ts'

const now = Date.UTC(2026, 10, 21, 12)
const HOUR = 3_600_000

const servers = Array.from({ length: 20 }, (_, i): Server => {
  const startedAt = now - (i + 1) * 5 * HOUR
  return {
    ...SAMPLE_SERVER,
    id: `ses_run-${i}`,
    server_id: `srv_place-${i}`,
    active: i === 0,
    pending: false,
    startedAt: new Date(startedAt).toISOString(),
    billed_from: new Date(startedAt).toISOString(),
    end_time: i ? new Date(startedAt + HOUR).toISOString() : null,
    ip_address: i ? null : '127.0.0.9',
  }
})
const summary = {
  monthlyUsage: { hoursUsed: 12.3, serverSessions: 20, runningServers: 1, amountOwedDollars: 4.02 },
  subscription: null,
  suspended: false,
  start_refusal: null,
  as_of: new Date(now).toISOString(),
}
const document = (path: string, children: React.ReactNode) => (
  <Layout
    user={{ id: 'user_1', name: 'Ada', email: 'ada@example.com', admin: false }}
    path={path}
    title="Measured"
    origin="http://localhost"
    csrfToken="token"
    theme="dark"
    noIndex
    assets={{ styles: ['/app.css'], scripts: ['/client.js'] }}
    hasFiles
  >
    {children}
  </Layout>
)

function measure(times: number, render: () => string): { us: number; bytes: number } {
  const sample: number[] = []
  let bytes = 0
  for (let i = 0; i < 2 * times; i++) {
    const start = performance.now()
    bytes = render().length
    if (i >= times) sample.push((performance.now() - start) * 1000)
  }
  return { us: median(sample), bytes }
}

const instances = manyInstances(2_000, now)
const dashboard = (
  <Dashboard
    userId="user_1"
    csrfToken="token"
    servers={servers}
    jobs={[]}
    summary={summary}
    unpaidDollars={0}
    machines={[]}
    startTimes={{}}
    worlds={worldsFor('basic', [])}
    secrets={null}
    filesStay
    stopAfter={14_400}
    asksEnd={null}
    restart={null}
    guests={[]}
    line={null}
    mayWait
  />
)
const shown = pageInstances(instances, NEWEST_FIRST, now)
const console_ = <Console now={now} shown={shown} error={null} view={NEWEST_FIRST} />

console.log(
  JSON.stringify({
    dashboard: measure(1_000, () => renderToString(document('/dashboard', dashboard))),
    console: measure(20, () => renderToString(document('/console', console_))),
  }),
)
