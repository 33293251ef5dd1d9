import { LONGEST_PULL_MS } from '../../domain/image-pull.ts'
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
          {`We bill server time by the second. The price is $${OVERAGE_DOLLARS_PER_HOUR} per hour, which is `}
          <span className="mono">{`$${OVERAGE_DOLLARS_PER_SECOND}`}</span> per second.
        </li>
        <li>
          We count server time in whole seconds, from the moment your server first answers on its web port until we
          accept your request to stop it. We do not count partial seconds at either end.
        </li>
        <li>
          {`Startup and shutdown are free, however long they take. If your image has not loaded within ${LONGEST_PULL_MS / MINUTE_MS} minutes, or your server
          has not answered ${ANSWER_DEADLINE_MS / MINUTE_MS} minutes after its container started, we stop it and you pay nothing. Any other failed start is free as well.`}
        </li>
        <li>{`Each plan includes hours per billing month: ${BASIC.name} ${BASIC.hours}, ${PREMIUM.name} ${PREMIUM.hours}. We bill only the time beyond them. Unused hours do not carry over.`}</li>
        <li>
          Your billing month starts on the day of the month your plan started, in UTC. If a month has no such day, it
          starts on the last day.
        </li>
        <li>If a session spans two billing months, we split it at the second one ends and the next begins.</li>
        <li>Amounts are in USD and rounded to the nearest cent, once per bill. Taxes are added where they apply.</li>
        <li>{`We issue an invoice at the end of each billing month. Payment is due within ${PAYMENT_DAYS} days.`}</li>
        <li>
          {`If you agree to it, we charge your card for the invoice. We email you at least a day before. If the charge fails, we email you the reason, and payment is due ${PAYMENT_DAYS} days after we issued the invoice. You can change your mind at any time on your billing pages. A no covers every unpaid invoice, and a yes every invoice we have not issued yet.`}
        </li>
        <li>
          {`While an invoice is overdue, we may suspend your account: you cannot start servers until you pay, and we email you when the suspension begins. ${STOP_AFTER_DAYS} days later we stop any server that is still running; we email you the day before. A running server is billed until it stops.`}
        </li>
        <li>
          You pay for a plan in advance, at the start of each billing month. If that payment fails, your plan includes
          no hours from that month on, and you cannot start servers until you pay. A server that is already running
          keeps running and is billed by the second. Once you pay, the current month's hours are included again.
        </li>
        <li>{`The free trial is ${TRIAL_MINUTES} minutes of server time, once per mailbox, however many addresses it has and even if you close your account. It ends automatically and never becomes a paid plan.`}</li>
        <li>
          If your plan becomes smaller or ends, a server that it no longer includes is stopped when the billing month
          ends. We email you a day and an hour before.
        </li>
        <li>
          You can cancel your subscription at any time. It then runs to the end of its billing month and does not renew.
        </li>
      </ol>
    </>
  )
}
