import { STOP_AFTER_DAYS } from '../../domain/money/invoice.ts'
import { OVERAGE_DOLLARS_PER_HOUR, PAYMENT_DAYS, TRIAL_MINUTES } from '../../domain/money/plan.ts'

export function Summary() {
  return (
    <section className="card summary" aria-labelledby="summary">
      <h2 id="summary">In plain language</h2>
      <ul>
        <li>You rent GPU servers for simulation. One server runs at a time, and you start and stop it.</li>
        <li>{`A new account has ${TRIAL_MINUTES} minutes to try it, free. When they are used up, its servers stop.`}</li>
        <li>{`A plan includes hours. Beyond them an hour costs $${OVERAGE_DOLLARS_PER_HOUR}, billed by the second. Startup is free.`}</li>
        <li>{`The invoice comes at the end of your cycle and is due in ${PAYMENT_DAYS} days. If it is overdue, we may suspend the account: no new servers, and ${STOP_AFTER_DAYS} days later we stop the running one. We email you before we do.`}</li>
        <li>When a server stops, everything on it is deleted. Save what you need first.</li>
        <li>You can cancel at any time; the plan then ends with its cycle.</li>
      </ul>
      <p className="muted small">This summary helps in reading. What binds are the terms below.</p>
    </section>
  )
}
