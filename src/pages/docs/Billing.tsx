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
import { formatUptime } from '../../domain/server.ts'
import { Doc, Heading, Rows } from './parts.tsx'

/** Clock times of one run, as ms of a day. */
const at = (hours: number, minutes: number, seconds: number, ms = 0) =>
  ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms
const RUN = { requested: at(14, 0, 0), answered: at(14, 0, 41, 300), stopped: at(15, 30, 0, 900) }

const cost = (hours: number, included: number) => dollars(unitsToDollars(overageUnits(hoursToSeconds(hours), included)))

export function Billing() {
  const seconds = runSeconds(RUN.answered, RUN.stopped)
  const months: [string, number, number][] = [
    ['No plan', 2, 0],
    [BASIC.name, 4, BASIC.hours],
    [BASIC.name, 12, BASIC.hours],
    [PREMIUM.name, 31.5, PREMIUM.hours],
  ]
  return (
    <Doc
      path="/docs/billing"
      title="Billing"
      lead={`You pay for the seconds your server is up: $${OVERAGE_DOLLARS_PER_HOUR} an hour beyond what your plan includes.`}
    >
      <Heading id="meter">When the meter runs</Heading>
      <p>
        It starts when your server first answers on port 5173, and ends the moment we accept your stop. Startup and
        shutdown are free, however long they take. So is a start that fails, or that you cancel.
      </p>
      <Rows
        caption="One run, second by second"
        head={['Time (UTC)', 'What happens', 'Billed']}
        rows={[
          ['14:00:00.0', 'You press Start Server', 'no'],
          ['14:00:41.3', 'The server answers', 'from 14:00:42'],
          ['15:30:00.9', 'You press Stop', 'until 15:30:00'],
        ]}
      />
      <p>
        That run counts <strong>{formatUptime(seconds)}</strong>, which is {seconds} seconds. We count only whole
        seconds, and round both ends in your favor. Beyond a plan's hours, it costs{' '}
        {`${seconds} × $${OVERAGE_DOLLARS_PER_SECOND} = `}
        <strong>{dollars(unitsToDollars(overageUnits(seconds, 0)))}</strong>.
      </p>

      <Heading id="months">What a month costs</Heading>
      <p>
        {`A plan includes hours: ${BASIC.name} ${BASIC.hours}, ${PREMIUM.name} ${PREMIUM.hours}. You pay ${dollars(BASIC.dollarsPerMonth ?? 0)} or ${dollars(PREMIUM.dollarsPerMonth ?? 0)} in advance, and afterward only for the time beyond these hours. We round once per bill. Unused hours don't carry over.`}
      </p>
      <Rows
        caption="Examples of a month's usage"
        head={['Plan', 'Hours used', 'Hours billed', 'Usage bill']}
        rows={months.map(([plan, hours, included]) => [
          plan,
          String(hours),
          String(Math.max(0, hours - included)),
          cost(hours, included),
        ])}
      />
      <p>
        A billing month starts on the day of the month your plan started, in UTC. Without a plan, it is the calendar
        month. A run across two months is split at the second between them.
      </p>

      <Heading id="trial">The free trial</Heading>
      <p>
        {`${TRIAL_MINUTES} minutes of server time, once. We email you 5 minutes before they are used up, and then stop the server: a trial never becomes a paid plan.`}
      </p>

      <Heading id="limits">Keeping costs under control</Heading>
      <ul>
        <li>
          Set when a server stops: <strong>Stop after</strong> on the dashboard, <code>--stop-after 2h</code> on{' '}
          <a href="/docs/cli">the command line</a>, or <code>stop_after</code> in <a href="/docs/api">the API</a>. We
          stop it then, even if your script has died, and bill nothing afterward. Until then you can move the end or
          remove it.
        </li>
        <li>
          Ten minutes before that end we email you, with a link that adds an hour. You don't have to sign in, and
          opening the link alone changes nothing.
        </li>
        <li>
          A plan that you buy while a trial's server runs keeps it for 4 hours. The dashboard asks when it should stop
          instead.
        </li>
        <li>Each day that a server runs, we email you what it has cost so far, with a link that stops it.</li>
        <li>
          The dashboard and <code>proving-ground status</code> show the cost of the running server, second by second.
        </li>
        <li>
          Set a monthly <a href="/budget">budget</a>. We email you when it is used up, and stop your server if you
          choose that. We look every minute, so a minute's cost may exceed it.
        </li>
        <li>
          Let us stop servers that <a href="/docs/images#idle">nobody uses</a>.
        </li>
        <li>
          <code>cost_dollars</code> in the API says what each ended run added to its bill.
        </li>
      </ul>

      <Heading id="invoices">Invoices</Heading>
      <p>
        {`At the end of a billing month, we send an invoice for the usage beyond your plan, due within ${PAYMENT_DAYS} days. While it is overdue, you can't start servers. If you turn on "Charge my card for usage" under `}
        <a href="/billing_history">Billing History</a>, your card pays it, and we email you a day before.{' '}
        <a href="/terms_of_service#billing">The terms</a> have every rule, and <a href="/pricing">Pricing</a> has all
        plans.
      </p>
    </Doc>
  )
}
