import { PLANS, TRIAL_MINUTES } from '../../domain/money/plan.ts'
import type { PersonDetails } from '../../domain/person-details.ts'
import type { Server } from '../../domain/wire.ts'
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
          text="Replaces a trial or another granted plan from now on. Nobody pays for it."
          button="Grant the plan"
        >
          {(typed) => (
            <>
              <Select name="plan" label="Plan" options={PLAN_OPTIONS} defaultValue={typed('plan') ?? 'basic'} />
              <Field
                name="hours"
                label="Hours a month"
                hint="Leave empty for the plan's own."
                inputMode="decimal"
                defaultValue={typed('hours')}
              />
            </>
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
          {(typed) => (
            <>
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
                required
              />
            </>
          )}
        </ActForm>
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
