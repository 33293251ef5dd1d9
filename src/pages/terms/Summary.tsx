import { STOP_AFTER_DAYS } from '../../domain/money/invoice.ts'
import { OVERAGE_DOLLARS_PER_HOUR, PAYMENT_DAYS, TRIAL_MINUTES } from '../../domain/money/plan.ts'

export function Summary() {
  return (
    <section className="card summary" aria-labelledby="summary">
      <h2 id="summary">In plain language</h2>
      <ul>
        <li>You rent GPU servers for simulation. You start and stop them yourself, one at a time.</li>
        <li>{`Your first ${TRIAL_MINUTES} minutes are free. When they are used up, we stop your server.`}</li>
        <li>{`Plans include hours. Beyond them, you pay $${OVERAGE_DOLLARS_PER_HOUR} an hour, billed by the second. Startup is free.`}</li>
        <li>{`We invoice you at the end of your billing month, and you have ${PAYMENT_DAYS} days to pay. If you agree to it, we charge your card instead. If an invoice is overdue, we may suspend your account: no new servers, and ${STOP_AFTER_DAYS} days later we stop the running one. We email you before we do.`}</li>
        <li>When a server stops, everything on it is deleted. Save what you need first.</li>
        <li>You can cancel at any time. Your plan then ends with its billing month.</li>
      </ul>
      <p className="muted small">This summary is not binding; the terms below are.</p>
    </section>
  )
}
