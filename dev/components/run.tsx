import type { Summary } from '../../src/domain/wire/billing.ts'
import type { Server } from '../../src/domain/wire/fleet.ts'
import { Address } from '../../src/islands/dashboard/Address.tsx'
import { DoorRow } from '../../src/islands/dashboard/DoorRow.tsx'
import { EndForm, MoveForm, To } from '../../src/islands/dashboard/EndForm.tsx'
import { EndingAlert } from '../../src/islands/dashboard/EndingAlert.tsx'
import { EndQuestion } from '../../src/islands/dashboard/EndQuestion.tsx'
import { RunCard } from '../../src/islands/dashboard/RunCard.tsx'
import { RunMeter } from '../../src/islands/dashboard/RunMeter.tsx'
import { SessionsTable } from '../../src/islands/dashboard/SessionsTable.tsx'
import { SteadyButton } from '../../src/islands/dashboard/SteadyButton.tsx'
import { StopDialogAs } from '../../src/islands/dashboard/StopDialog.tsx'
import { iso, NOW, ON_PREMIUM, ON_TRIAL, RUNNING, SERVERS, summaryOf } from './samples.ts'
import { nothing, type Specimen } from './specimen.ts'

const FOLDER = 'src/islands/dashboard'
const runCard = (server: Server, summary: Summary, reachable = true) => (
  <RunCard
    server={server}
    summary={summary}
    now={NOW}
    csrfToken=""
    reachable={reachable}
    onStop={nothing}
    onMove={nothing}
    latest={null}
    guests={[]}
  />
)
const endForm = (server: Server) => <EndForm server={server} now={NOW} csrfToken="" onMove={nothing} latest={null} />
const doorRow = (...untils: number[]) => (
  <DoorRow server={RUNNING} now={NOW} guests={untils.map((ago) => ({ run: RUNNING.id, until: iso(ago) }))} />
)
const table = (servers: Server[], loading = false) => (
  <SessionsTable
    servers={servers}
    summary={summaryOf(3, null)}
    loading={loading}
    now={NOW}
    reachable
    onStop={nothing}
  />
)

export const RUN: Specimen[] = [
  {
    name: 'RunCard',
    file: `${FOLDER}/RunCard.tsx`,
    states: {
      ...Object.fromEntries(
        SERVERS.slice(0, 5).map(([state, server]) => [
          state,
          runCard(server, summaryOf(3, state === 'stopping' ? ON_PREMIUM : null), state !== 'running, connecting'),
        ]),
      ),
      'with files that it can only read': runCard({ ...RUNNING, files_read_only: 'full' }, summaryOf(3, null)),
      'with a full disk': runCard({ ...RUNNING, disk_nearly_full: true }, summaryOf(3, null)),
    },
  },
  {
    name: 'DoorRow',
    file: `${FOLDER}/DoorRow.tsx`,
    states: {
      'only you': doorRow(),
      'a guest': doorRow(-3600),
      'guests, for days': doorRow(-3600, -200_000),
    },
  },
  {
    name: 'EndForm',
    file: `${FOLDER}/EndForm.tsx`,
    states: {
      'no end': endForm(RUNNING),
      'in hours': endForm({ ...RUNNING, ends_at: iso(-10_740) }),
      'in days': endForm({ ...RUNNING, ends_at: iso(-200_000) }),
    },
  },
  {
    name: 'MoveForm',
    file: `${FOLDER}/EndForm.tsx`,
    states: {
      'one button': (
        <MoveForm server={RUNNING} csrfToken="" onMove={nothing}>
          <To at={NOW}>Add an hour</To>
        </MoveForm>
      ),
    },
  },
  {
    name: 'To',
    file: `${FOLDER}/EndForm.tsx`,
    states: {
      button: <To at={null}>No end</To>,
    },
  },
  {
    name: 'EndQuestion',
    file: `${FOLDER}/EndQuestion.tsx`,
    states: {
      'after a purchase': (
        <EndQuestion server={{ ...RUNNING, ends_at: iso(-14_400) }} now={NOW} csrfToken="" onMove={nothing} />
      ),
    },
  },
  {
    name: 'EndingAlert',
    file: `${FOLDER}/EndingAlert.tsx`,
    states: {
      'minutes left': (
        <EndingAlert
          server={{ ...RUNNING, ends_at: iso(-582) }}
          now={NOW}
          csrfToken=""
          onMove={nothing}
          latest={null}
        />
      ),
    },
  },
  {
    name: 'SteadyButton',
    file: `${FOLDER}/SteadyButton.tsx`,
    states: {
      enabled: <SteadyButton>Stop</SteadyButton>,
      disabled: <SteadyButton disabled>Stop</SteadyButton>,
    },
  },
  {
    name: 'StopDialogAs',
    file: `${FOLDER}/StopDialog.tsx`,
    states: {
      billed: (
        <div className="card ask">
          <StopDialogAs server={RUNNING} summary={summaryOf(3, null)} now={NOW} filesStay />
        </div>
      ),
      'billed, where servers keep no files': (
        <div className="card ask">
          <StopDialogAs server={RUNNING} summary={summaryOf(3, null)} now={NOW} filesStay={false} />
        </div>
      ),
    },
  },
  {
    name: 'SessionsTable',
    file: `${FOLDER}/SessionsTable.tsx`,
    states: {
      ...Object.fromEntries(SERVERS.map(([state, server]) => [state, table([server])])),
      several: table(SERVERS.map(([, server], i) => ({ ...server, id: `${server.id}${i}` }))),
      empty: table([]),
      loading: table(
        SERVERS.slice(1, 2).map(([, server]) => server),
        true,
      ),
    },
  },
  {
    name: 'Address',
    file: `${FOLDER}/Address.tsx`,
    states: {
      'running, reachable': <Address server={RUNNING} reachable />,
      ...Object.fromEntries(
        SERVERS.map(([state, server]) => [state, <Address key="a" server={server} reachable={false} />]),
      ),
    },
  },
  {
    name: 'RunMeter',
    file: `${FOLDER}/RunMeter.tsx`,
    states: {
      'free trial': <RunMeter server={RUNNING} summary={summaryOf(1.1, ON_TRIAL)} now={NOW} />,
      'within the plan': <RunMeter server={RUNNING} summary={summaryOf(14, ON_PREMIUM)} now={NOW} />,
      billed: <RunMeter server={RUNNING} summary={summaryOf(3, null)} now={NOW} />,
    },
  },
]
