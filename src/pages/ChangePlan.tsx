import { instantText, toDay, toIso } from '../domain/instant.ts'
import { dollars } from '../domain/money/money.ts'
import { planName, planOffered } from '../domain/money/plan.ts'
import { LARGE_SERVERS_END } from '../domain/money/plan-words.ts'
import type { ChangeQuote } from '../domain/views.ts'
import { Alert } from '../ui/Alert.tsx'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { FlashAlert, type FlashMessage } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { Time } from '../ui/Time.tsx'
import { FormPage } from './account/FormPage.tsx'
import { PortalForm } from './billing/PortalForm.tsx'

type ChangePlanProps = ChangeQuote & {
  /** What happens to files that the smaller plan doesn't include. */
  filesThen: string | undefined
  csrfToken: string
  /** A refused change, such as a declined card. */
  flash: FlashMessage | null
}

/** Says what a plan change costs and includes, and asks for confirmation. */
export function ChangePlan(props: ChangePlanProps) {
  const { to, kind, cents, quotedAt, periodEnd, csrfToken, flash } = props
  const up = kind === 'upgrade'
  const then = instantText(toDay(periodEnd), false)
  return (
    <FormPage title={`${up ? 'Upgrade' : 'Switch'} to ${planName(to)}`}>
      <FlashAlert flash={flash} />
      {flash?.kind === 'danger' ? <PortalForm csrfToken={csrfToken} /> : null}
      {up ? <Upgrade {...props} /> : <Downgrade {...props} />}
      <form method="post" action="/api/v1/subscriptions/change_plan" className="row">
        <HiddenFields csrfToken={csrfToken} values={{ plan_type: to, quoted_at: toIso(quotedAt) }} />
        <Button type="submit" look="primary">
          {up ? `Upgrade and pay ${dollars((cents ?? 0) / 100)}` : `Switch on ${then}`}
        </Button>
        <ButtonLink href="/subscriptions">Not now</ButtonLink>
      </form>
    </FormPage>
  )
}

function Upgrade({ from, to, cents, periodEnd, hours }: ChangePlanProps) {
  const plan = planOffered(to)
  const day = <Time at={toDay(periodEnd)} />
  return (
    <>
      <dl className="facts">
        <dt>Today</dt>
        <dd>
          <strong>{dollars((cents ?? 0) / 100)}</strong>, the difference in price until {day}
        </dd>
        <dt>From {day}</dt>
        <dd>{dollars(plan?.dollarsPerMonth ?? 0)} a month</dd>
        <dt>Hours</dt>
        <dd>
          {hours === plan?.hours ? (
            `${hours} a month`
          ) : (
            <>
              {hours} until {day}, then {plan?.hours} a month
            </>
          )}
        </dd>
        <dt>Servers</dt>
        <dd>Up to {plan?.features.gpu}, from your next start</dd>
      </dl>
      <p className="hint">
        You pay only for the rest of this period, so it includes the same share of {planName(to)}'s additional hours. We
        charge the card that pays for {planName(from)}.
      </p>
    </>
  )
}

function Downgrade({ from, to, periodEnd, hours, filesThen }: ChangePlanProps) {
  const plan = planOffered(to)
  const day = <Time at={toDay(periodEnd)} />
  return (
    <>
      <dl className="facts">
        <dt>Until {day}</dt>
        <dd>
          You keep {planName(from)} and its {hours} hours
        </dd>
        <dt>From {day}</dt>
        <dd>
          {dollars(plan?.dollarsPerMonth ?? 0)} a month, {plan?.hours} hours, servers with {plan?.features.gpu}
        </dd>
      </dl>
      {filesThen ? <Alert kind="warning">{filesThen}</Alert> : null}
      <p className="hint">
        We charge and refund nothing today. You can change your mind until {day}. {LARGE_SERVERS_END}
      </p>
    </>
  )
}
