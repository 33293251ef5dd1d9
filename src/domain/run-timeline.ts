import { instantText, toIso } from './instant.ts'
import { machineText } from './machine.ts'
import { runSeconds, startupSeconds, wholeSecondFrom } from './money/billing.ts'
import { exitText } from './run-death.ts'
import type { RunActor, RunEventKind } from './run-event.ts'
import { formatUptime } from './server.ts'
import type { RunEvent, RunEventName } from './wire/fleet.ts'
import { worldText } from './worlds.ts'

/** What an event is called on our pages. */
export const EVENT_TITLES: Record<RunEventName, string> = {
  requested: 'Requested',
  place_refused: 'Place refused',
  launched: 'Launched',
  booting: 'Booting',
  running: 'Machine running',
  answered: 'First answer: the meter starts',
  program_started: 'Program started: the meter starts',
  exited: 'Program ended',
  end_set: 'End set',
  end_moved: 'End moved',
  end_removed: 'End removed',
  renamed: 'Renamed',
  warned: 'Warned of the end',
  stopped: 'Stop accepted',
  failed: 'Failed',
  meter_ended: 'Meter ended',
  machine_ended: 'Ended at EC2',
  gone: 'Machine gone',
}

type Run = {
  requestedAt: number
  maxGpus: number | null
  environment: string | null
  vehicle: string | null
  runningAt: number | null
  ipAddress: string | null
  billedFrom: number | null
  confirmedAt: number | null
  trialWarnedAt: number | null
  stopRequestedAt: number | null
  meteredUntil: number | null
  endedAt: number | null
  untilExit: boolean
  exitedAt: number | null
  exitCode: number | null
  errorMessage: string | null
}

type Launch = {
  createdAt: number
  instanceType: string
  availabilityZone: string
  outcome: 'launched' | 'refused' | 'gone' | null
  refusalCode: string | null
  refusalRequestId: string | null
  launchedAt: number | null
  endedAt: number | null
  endReason: string | null
}

type Happened = { at: number; what: RunEventKind; detail: string | null; by: RunActor }

export type RunFacts = {
  run: Run
  /** Oldest first. */
  launches: Launch[]
  happened: Happened[]
  /** Who or what ended it. */
  endedBy: string | null
}

/**
 * Everything that happened to a run, oldest first.
 * @param vendor adds what EC2 said, which customers don't see
 */
export function runTimeline({ run, launches, happened, endedBy }: RunFacts, { vendor = false } = {}): RunEvent[] {
  const { billedFrom, meteredUntil, stopRequestedAt, errorMessage } = run
  const neverRan = billedFrom === null && errorMessage !== null
  const events: [at: number | null, what: RunEventName, detail: string | null][] = [
    [run.requestedAt, 'requested', wishText(run)],
    ...launches.flatMap((launch) => launchEvents(launch, vendor)),
    [run.runningAt, 'running', run.ipAddress && `Address ${run.ipAddress}.`],
    [
      billedFrom,
      run.untilExit ? 'program_started' : 'answered',
      billedFrom === null
        ? null
        : `Startup took ${formatUptime(startupSeconds(run.requestedAt, billedFrom))} and is free.`,
    ],
    [run.exitedAt, 'exited', run.exitCode === null ? null : `With ${exitText(run.exitCode)}.`],
    ...happened.map((one): (typeof events)[number] => [one.at, one.what, changeText(one)]),
    [happened.some(({ what }) => what === 'warned') ? null : run.trialWarnedAt, 'warned', null],
    [stopRequestedAt, neverRan ? 'failed' : 'stopped', errorMessage ?? endedBy],
    [
      meteredUntil,
      'meter_ended',
      meteredUntil === null ? null : `${formatUptime(runSeconds(billedFrom ?? meteredUntil, meteredUntil))} metered.`,
    ],
    ...launches.map((launch): (typeof events)[number] => [
      // EC2 counts whole seconds, so its end may seem to precede the stop in the same second.
      launch.endedAt === wholeSecond(stopRequestedAt) ? stopRequestedAt : launch.endedAt,
      'machine_ended',
      vendor ? launch.endReason : null,
    ]),
    [run.endedAt, 'gone', null],
  ]
  return events
    .flatMap(([at, what, detail]) => (at === null ? [] : [{ at, what, detail }]))
    .sort((a, b) => a.at - b.at)
    .map((event) => ({ ...event, at: toIso(event.at) }))
}

function wishText({ maxGpus, environment, vehicle }: Run): string | null {
  const world = worldText({ environment, vehicle })
  const wishes = [world && `${world}.`, maxGpus !== null && `At most ${maxGpus} × L4.`].filter(Boolean)
  return wishes.join(' ') || null
}

function launchEvents(launch: Launch, vendor: boolean): [number | null, RunEventName, string | null][] {
  const place = machineText(launch.instanceType, launch.availabilityZone)
  const { refusalCode, refusalRequestId, createdAt, launchedAt } = launch
  if (launch.outcome === 'refused') {
    const said = vendor ? ` EC2 said ${refusalCode ?? 'no'}, request ID ${refusalRequestId ?? 'unknown'}.` : ''
    return [[createdAt, 'place_refused', `${place}: ${whyRefused(refusalCode)}${said}`]]
  }
  return [
    [createdAt, 'launched', `${place}.`],
    // EC2 counts whole seconds, so its launch may seem to precede our request.
    [launchedAt && Math.max(createdAt, launchedAt), 'booting', null],
  ]
}

function whyRefused(code: string | null): string {
  return code?.endsWith('InsufficientInstanceCapacity')
    ? 'our cloud provider had none free.'
    : 'our cloud provider refused to launch there.'
}

const BY: Record<string, string> = {
  site: 'By you.',
  mail: 'By the link in our email.',
  budget: 'By your budget.',
  plan: 'By your plan.',
  idle: 'Because it was idle.',
  used: 'Because someone used it again.',
  us: 'By us.',
}

function changeText({ what, detail, by }: Happened): string | null {
  if (what === 'warned') return detail && `It ends ${instantText(detail, false)}.`
  const actor = BY[by] ?? `By the API token “${by.slice('token:'.length)}”.`
  if (detail === null) return actor
  return what === 'renamed' ? `“${detail}”. ${actor}` : `To ${instantText(detail, false)}. ${actor}`
}

const METER_STARTS = new Set<RunEventName>(['answered', 'program_started'])

/** The time that a page shows for it: the meter starts on a whole second. */
export function shownAt({ at, what }: RunEvent): string {
  return METER_STARTS.has(what) ? toIso(wholeSecondFrom(Date.parse(at))) : at
}

const wholeSecond = (at: number | null) => at && Math.floor(at / 1000) * 1000
