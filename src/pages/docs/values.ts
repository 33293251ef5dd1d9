import { DEFAULT_TOKEN_DAYS } from '../../domain/api-token.ts'
import { GUEST_HOURS } from '../../domain/door.ts'
import { FEWEST_WAITS } from '../../domain/estimate.ts'
import { LEAST_IDLE_MINUTES, MOST_IDLE_MINUTES, STATUS_BYTES, STATUS_PATH } from '../../domain/idle.ts'
import { MINUTE_MS } from '../../domain/instant.ts'
import { HOLD_MS, LAPSES_TO_END, LAPSES_TO_LEAVE, PAID_TURNS } from '../../domain/line.ts'
import { machineText } from '../../domain/machine.ts'
import { MACHINE_PORTS } from '../../domain/machine-ports.ts'
import { hoursToSeconds, overageUnits, runSeconds, unitsToDollars } from '../../domain/money/billing.ts'
import { dollars } from '../../domain/money/money.ts'
import {
  BASIC,
  OVERAGE_DOLLARS_PER_HOUR,
  OVERAGE_DOLLARS_PER_SECOND,
  PAYMENT_DAYS,
  PREMIUM,
  TRIAL_MINUTES,
} from '../../domain/money/plan.ts'
import { MAX_OWN_ENVIRONMENTS } from '../../domain/own-environment.ts'
import { DELIVERY_DAYS } from '../../domain/retention.ts'
import { LOG_DAYS } from '../../domain/run-log.ts'
import { ANSWER_DEADLINE_MS, formatUptime, SERVER_WEB_PORT } from '../../domain/server.ts'
import { KEPT_DELIVERIES, MAX_WEBHOOKS } from '../../domain/webhook.ts'
import { VEHICLES } from '../../domain/worlds.ts'
import type { ApiCall } from './api-calls.ts'
import { escapeText, table } from './markdown.ts'

/** Stands for the site's own address, which the build doesn't know. */
export const ORIGIN = 'https://origin.invalid'

/** A function also works in scripts, and completes in zsh; an alias doesn't. */
const GET_CLI = `curl -fsSo ~/proving-ground.mjs ${ORIGIN}/cli/proving-ground.mjs
proving-ground() { node ~/proving-ground.mjs "$@"; }`

const ACTION_FILES = ['action.yml', 'keep.mts', 'rclone.mts', 'run.mts', 'site.mts', 'start.mts', 'stop.mts']
const GET_ACTION = `curl -fsS --create-dirs --output-dir .github/actions/proving-ground \\
  -O "${ORIGIN}/cli/action/{${ACTION_FILES.join()}}"`

const DOOR_HEADER =
  "The address is the server's own and private: a program sends its token in this header. The server never sees it. [Who gets in](/docs/images#private) says more."

/** Clock times of the run on the page about billing, as ms of a day. */
const at = (hours: number, minutes: number, seconds: number, ms: number) =>
  ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms
const ran = runSeconds(at(14, 0, 41, 300), at(15, 30, 0, 900))
const cost = (seconds: number, included: number) => dollars(unitsToDollars(overageUnits(seconds, included)))

const MONTHS: [plan: string, hours: number, included: number][] = [
  ['No plan', 2, 0],
  [BASIC.name, 4, BASIC.hours],
  [BASIC.name, 12, BASIC.hours],
  [PREMIUM.name, 31.5, PREMIUM.hours],
]

/** The machines that the plans come with, smallest first. */
const MACHINES: [plan: string, type: string][] = [
  [BASIC.name, 'g6.4xlarge'],
  [PREMIUM.name, 'g6.12xlarge'],
]

/** What replaces `{{name}}` in the pages: Markdown text. */
const VALUES: Record<string, string | number> = {
  ...{ DEFAULT_TOKEN_DAYS, DELIVERY_DAYS, FEWEST_WAITS, KEPT_DELIVERIES, LAPSES_TO_END, LAPSES_TO_LEAVE },
  ...{ LEAST_IDLE_MINUTES, LOG_DAYS, MAX_OWN_ENVIRONMENTS, MAX_WEBHOOKS, MOST_IDLE_MINUTES, OVERAGE_DOLLARS_PER_HOUR },
  ...{
    OVERAGE_DOLLARS_PER_SECOND,
    PAID_TURNS,
    PAYMENT_DAYS,
    SERVER_WEB_PORT,
    STATUS_BYTES,
    STATUS_PATH,
    TRIAL_MINUTES,
  },
  ...{ GET_CLI, GET_ACTION, DOOR_HEADER },
  origin: ORIGIN,
  answerMinutes: ANSWER_DEADLINE_MS / MINUTE_MS,
  holdMinutes: HOLD_MS / MINUTE_MS,
  guestLeast: GUEST_HOURS.least,
  guestMost: GUEST_HOURS.most,
  vehicles: VEHICLES.join(', '),
  basicHours: BASIC.hours,
  basicPrice: dollars(BASIC.dollarsPerMonth ?? 0),
  premiumHours: PREMIUM.hours,
  premiumPrice: dollars(PREMIUM.dollarsPerMonth ?? 0),
  runTime: formatUptime(ran),
  runSeconds: ran,
  runCost: cost(ran, 0),
  months: table(
    ['Plan', 'Hours used', 'Hours billed', 'Usage bill'],
    MONTHS.map(([plan, hours, included]) => [
      plan,
      hours,
      Math.max(0, hours - included),
      cost(hoursToSeconds(hours), included),
    ]),
  ),
  machines: table(
    ['Plan', 'Type', 'Hardware'],
    MACHINES.map(([plan, type]) => [plan, `\`${type}\``, machineText(type)]),
  ),
  ports: table(
    ['Port', 'What usually listens', 'How it is reached'],
    MACHINE_PORTS.map(({ port, use, web }) => [
      `\`${port}\``,
      use,
      web ? 'HTTP and WebSocket, or forwarded' : 'Forwarded',
    ]),
  ),
}

/** The parts of the page about the API that come from its document. */
function ofCalls(calls: ApiCall[]): Record<string, string> {
  const open = calls.filter(({ scope }) => scope)
  const others = calls.filter(({ scope }) => !scope)
  const rows = open.map(({ id, method, path, summary, scope }) => [
    `[\`${method} ${path}\`](#${id})`,
    summary,
    scope ?? '',
  ])
  return {
    calls: [table(['Call', 'What it does', 'Access'], rows), ...open.map(ofCall)].join('\n\n'),
    browserCalls: table(
      ['Call', 'What it does'],
      others.map(({ id, method, path, summary }) => [`<code id="${id}">${method} ${path}</code>`, summary]),
    ),
  }
}

function ofCall({ id, method, path, summary, scope, curl, status, answer, refusals }: ApiCall): string {
  const why = refusals.map(({ status: code, reason }) => `${code} ${reason[0]?.toLowerCase()}${reason.slice(1)}`)
  return `### ${summary} {#${id}}

\`${method} ${path}\` with a token that may ${scope}

\`\`\`sh run=${id}
${curl}
\`\`\`

Answers ${status}:

\`\`\`json
${answer}
\`\`\`

<p class="hint">Refusals: ${escapeText(why.join('; '))}.</p>`
}

/** A page's Markdown, with what the code knows filled in. `{{door}}` applies where servers have private addresses. */
export function fillIn(markdown: string, calls: ApiCall[], hasDoor: boolean): string {
  const values = { ...VALUES, ...ofCalls(calls) }
  return markdown
    .replace(/\{\{door\}\}(.*?)\{\{no door\}\}(.*?)\{\{end\}\}/gs, hasDoor ? '$1' : '$2')
    .replace(/\{\{(\w+)\}\}/g, (_, name) => {
      if (!(name in values)) throw new Error(`Nothing stands for {{${name}}}`)
      return String(values[name])
    })
}
