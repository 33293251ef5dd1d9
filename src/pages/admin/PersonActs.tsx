import { instantText } from '../../domain/instant.ts'
import { dollars } from '../../domain/money/money.ts'
import { PLANS, TRIAL_MINUTES } from '../../domain/money/plan.ts'
import type { PersonDetails } from '../../domain/person-details.ts'
import type { Server } from '../../domain/wire/fleet.ts'
import { Field, Select } from '../../ui/Field.tsx'
import { ActForm } from './ActForm.tsx'
import type { Acting } from './AdminPage.tsx'
import { ForceStop } from './ForceStop.tsx'

const PLAN_OPTIONS = [
  ...PLANS.map(({ type, hours }) => ({ value: type, label: `${type}, ${hours ?? 0} h by default` })),
  { value: 'demo', label: `trial, ${TRIAL_MINUTES} minutes` },
]

type Props = { person: PersonDetails; live: Server | null; acting: Acting }

/** Everything an admin can do to someone else's account. */
export function PersonActs({ person, live, acting }: Props) {
  const at = `/admin/people/${person.id}`
  const correctable = person.bills.filter(({ corrects }) => corrects === null)
  const holdable = person.bills.filter((bill) => bill.holdable)
  const held = person.bills.filter((bill) => bill.held)
  const isClosed = person.closed_at !== null
  return (
    <div className="stack">
      {live ? <ForceStop runId={live.id} acting={acting} /> : null}
      {isClosed ? null : person.held_at ? (
        <ActForm
          id="lift"
          action={`${at}/lift`}
          acting={acting}
          title="Lift the suspension…"
          text="They can start servers again."
          button="Lift the suspension"
        />
      ) : (
        <ActForm
          id="suspend"
          action={`${at}/suspend`}
          acting={acting}
          title="Suspend…"
          text="They can't start servers until you lift it, and get an email. A running server keeps running: force stop it as well if it must end."
          button="Suspend"
        />
      )}
      {isClosed || person.plan?.paid_through_stripe ? null : (
        <ActForm
          id="grant"
          action={`${at}/plan`}
          acting={acting}
          title="Grant a plan…"
          text="Replaces a trial or another granted plan from now on. It's free."
          button="Grant the plan"
        >
          {(typed, error) => (
            <div className="pair">
              <Select
                name="plan"
                label="Plan"
                options={PLAN_OPTIONS}
                defaultValue={typed('plan') ?? 'basic'}
                error={error('plan')}
              />
              <Field
                name="hours"
                label="Hours a month"
                hint="Leave empty for the plan's own."
                inputMode="decimal"
                defaultValue={typed('hours')}
                error={error('hours')}
              />
            </div>
          )}
        </ActForm>
      )}
      {person.plan && !person.plan.paid_through_stripe ? (
        <ActForm
          id="end-plan"
          action={`${at}/end_plan`}
          acting={acting}
          title="End the plan…"
          text="Ends their trial or granted plan now. We bill what they use from then on."
          button="End the plan"
        />
      ) : null}
      {correctable.length ? (
        <ActForm
          id="correct"
          action="/admin/bills/correct"
          acting={acting}
          title="Correct a bill…"
          text="Enter the right number of seconds. We credit an overpayment and invoice an underpayment."
          button="Correct the bill"
          reasonHint="The customer sees it."
        >
          {(typed, error) => (
            <div className="pair">
              <Select
                name="bill"
                label="Bill"
                options={correctable.map(({ id, start, seconds }) => ({
                  value: id,
                  label: `${start.slice(0, 10)}: ${seconds} seconds`,
                }))}
                defaultValue={typed('bill')}
              />
              <Field
                name="seconds"
                label="Correct seconds"
                inputMode="numeric"
                defaultValue={typed('seconds')}
                error={error('seconds')}
                required
              />
            </div>
          )}
        </ActForm>
      ) : null}
      {holdable.length ? (
        <ActForm
          id="hold"
          action="/admin/bills/hold"
          acting={acting}
          title="Hold an invoice…"
          text="Until you release it, we don't charge it, send it, or suspend anyone for it. If Stripe already sent a link, they can still pay."
          button="Hold the invoice"
        >
          {(typed) => <BillSelect bills={holdable} chosen={typed('bill')} />}
        </ActForm>
      ) : null}
      {held.length ? (
        <ActForm
          id="release"
          action="/admin/bills/release"
          acting={acting}
          title="Release an invoice…"
          text="We continue where we stopped. We announce a charge a day ahead, and move the due date by the length of the hold."
          button="Release the invoice"
        >
          {(typed) => <BillSelect bills={held} chosen={typed('bill')} />}
        </ActForm>
      ) : null}
      {isClosed ? null : person.factor_removal_at ? (
        <ActForm
          id="keep-factor"
          action={`${at}/keep_factor`}
          acting={acting}
          title="Keep their second factor…"
          text={`We’ll remove it on ${instantText(person.factor_removal_at, false)}. This cancels the removal and emails them.`}
          button="Keep it"
        />
      ) : person.has_factor ? (
        <ActForm
          id="no-factor"
          action={`${at}/no_factor`}
          acting={acting}
          title="Remove a lost second factor…"
          text="For someone who lost their phone and recovery codes. First make sure it’s really them. We email them now and remove it a day later, unless they sign in with it or keep it. After that, their password alone signs them in."
          button="Remove it in a day"
        />
      ) : null}
      <ActForm
        id="sign-out"
        action={`${at}/sign_out`}
        acting={acting}
        title="Sign out everywhere…"
        text="Signs them out in every browser and revokes all their API tokens."
        button="Sign out everywhere"
      />
    </div>
  )
}

function BillSelect({ bills, chosen }: { bills: PersonDetails['bills']; chosen: string | undefined }) {
  const options = bills.map(({ id, start, dollars: sum }) => ({
    value: id,
    label: `${start.slice(0, 10)}: ${dollars(sum)}`,
  }))
  return <Select name="bill" label="Bill" options={options} defaultValue={chosen} />
}
