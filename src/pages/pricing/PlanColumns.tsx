import { PLANS, type Plan, PREMIUM } from '../../domain/money/plan.ts'
import { ButtonLink } from '../../ui/Button.tsx'
import { Icon } from '../../ui/Icon.tsx'

const ENTERPRISE_LINES = [
  'Custom hours and hardware',
  'Customizable physics',
  'Customizable sensors',
  'Early-access features',
]

function lines({ hours, features, dollarsPerMonth }: Plan): string[] {
  if (dollarsPerMonth === null) return ENTERPRISE_LINES
  const { gpu, cpu, memory, environments, syntheticData, vehicles } = features
  return [`${hours} hours included per month`, gpu, `${cpu}, ${memory}`, environments, syntheticData, vehicles]
}

export function PlanColumns() {
  return (
    <ul className="plans">
      {PLANS.map((plan) => (
        <li key={plan.type} className={plan === PREMIUM ? 'card plan plan-popular' : 'card plan'}>
          <div className="plan-head">
            <h2>{plan.name}</h2>
            {plan === PREMIUM ? <p className="popular">Most Popular</p> : null}
          </div>
          <p className="price">
            {plan.dollarsPerMonth === null ? 'Custom' : `$${plan.dollarsPerMonth}`}
            {plan.dollarsPerMonth === null ? null : <small>/mo</small>}
          </p>
          <ul className="ticks">
            {lines(plan).map((text) => (
              <li key={text}>
                <Icon name="check" />
                {text}
              </li>
            ))}
          </ul>
          <ButtonLink
            href="/contact_sales"
            {...(plan === PREMIUM && { look: 'primary' as const })}
            aria-label={`Contact sales about ${plan.name}`}
          >
            Contact sales
          </ButtonLink>
        </li>
      ))}
    </ul>
  )
}
