import { MINUTE_MS } from '../../domain/instant.ts'
import { STOP_AFTER_DAYS } from '../../domain/money/invoice.ts'
import {
  BASIC,
  OVERAGE_DOLLARS_PER_HOUR,
  OVERAGE_DOLLARS_PER_SECOND,
  PAYMENT_DAYS,
  PREMIUM,
  TRIAL_MINUTES,
} from '../../domain/money/plan.ts'
import { ANSWER_DEADLINE_MS } from '../../domain/server.ts'

export function Billing() {
  return (
    <>
      <h2 id="billing">1. Prices and billing</h2>
      <ol>
        <li>
          {`Server time is billed per second. The price is $${OVERAGE_DOLLARS_PER_HOUR} per hour, which is `}
          <span className="mono">{`$${OVERAGE_DOLLARS_PER_SECOND}`}</span> per second.
        </li>
        <li>
          We count server time in whole seconds, from the moment your server first answers on its web port until we
          accept your request to stop it. Parts of a second at either end are not counted.
        </li>
        <li>
          {`Startup and shutdown are free, however long they take. A server that has not answered ${ANSWER_DEADLINE_MS / MINUTE_MS} minutes after its machine
          came up is stopped, and costs nothing. So does every other start that fails.`}
        </li>
        <li>{`A plan includes hours in every cycle: ${BASIC.name} ${BASIC.hours}, ${PREMIUM.name} ${PREMIUM.hours}. Only what goes beyond them is billed per second. Hours that are not used do not carry over.`}</li>
        <li>
          Your cycle starts on the day of the month on which the plan started, counted in UTC. Where a month lacks that
          day, its last day is taken.
        </li>
        <li>A run that spans two cycles is divided at the second in which one ends and the other begins.</li>
        <li>
          Amounts are in USD, and rounded to the nearest cent once for each billing record. Taxes come on top where they
          apply.
        </li>
        <li>{`An invoice is issued at the end of each cycle. Payment is due within ${PAYMENT_DAYS} days.`}</li>
        <li>
          {`While an invoice is overdue, we may suspend the account: you cannot start servers until you pay, and we email you when that begins. ${STOP_AFTER_DAYS} days later we stop any server that is still running; we email you the day before. Until it stops, a running server is billed.`}
        </li>
        <li>
          A plan is charged in advance, at the start of each cycle. If that payment fails, the plan includes no hours
          from that cycle on, and no server can be started until it is paid. A server that is already running keeps
          running and is billed per second. Once you pay, the hours of the current cycle are included again.
        </li>
        <li>{`The free trial is ${TRIAL_MINUTES} minutes of server time, once for each person. It ends by itself and turns into nothing that costs money.`}</li>
        <li>A subscription can be canceled at any time. It then runs to the end of its cycle and does not renew.</li>
      </ol>
    </>
  )
}
