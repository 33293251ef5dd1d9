import type { ReactNode } from 'react'
import type { PlanType } from '../../domain/money/plan.ts'
import type { Environment, Server, Worlds } from '../../domain/wire/fleet.ts'
import { choose, OWN_PLANS, smallestPlan, titleOf } from '../../domain/worlds.ts'
import { Icon } from '../../ui/Icon.tsx'
import { FORM } from './ByForm.tsx'

type Choices = Worlds['environments'] | Worlds['vehicles']

/** The environment and the vehicle that the user chose. */
export function chosenWorld(): { environment?: string; vehicle?: string } {
  const checked = document.querySelectorAll<HTMLInputElement>('.world :checked')
  return Object.fromEntries([...checked].map(({ name, value }) => [name, value]))
}

/** The environment that is selected at first. */
export function firstEnvironment(worlds: Worlds, servers: Server[]): string | undefined {
  return choose<Environment>(worlds.environments, null, lastOf(servers)?.environment ?? null)?.name
}

/** A failed start doesn't count as a choice. */
export const lastOf = (servers: Server[]) =>
  servers.find((server) => server.environment && (server.billed_from || !server.error_message))

/** What would start: the last choice, if their plan still has it. What only other plans include is locked. */
export function WorldChoice({
  worlds,
  last,
  plan,
  own,
}: {
  worlds: Worlds
  last?: { environment: string | null; vehicle: string | null } | undefined
  plan?: PlanType | undefined
  /** The names of their own images, if starts can give those secrets. */
  own?: string[] | undefined
}) {
  return (
    <div className="world">
      <Choice
        name="environment"
        label="Environment"
        choices={worlds.environments}
        last={last?.environment ?? null}
        own={own}
      >
        {plan && OWN_PLANS.includes(plan) ? <a href="/settings/servers#environments">Build Your Own</a> : null}
      </Choice>
      <Choice name="vehicle" label="Vehicle" choices={worlds.vehicles} last={last?.vehicle ?? null} />
    </div>
  )
}

type ChoiceProps = {
  name: string
  label: string
  choices: Choices
  last: string | null
  own?: string[] | undefined
  children?: ReactNode
}

function Choice({ name, label, choices, last, own, children }: ChoiceProps) {
  const chosen = choose<Choices[number]>(choices, null, last)
  return (
    <fieldset>
      <legend>{label}</legend>
      {choices.map((choice) => (
        <label key={choice.name} title={'description' in choice ? choice.description : undefined}>
          <input
            type="radio"
            name={name}
            form={FORM}
            value={choice.name}
            defaultChecked={choice === chosen}
            disabled={!choice.available}
            data-own={own?.includes(choice.name) || undefined}
          />
          <span>
            {choice.available ? null : <Icon name="lock" size={14} />}
            {titleOf(choice)}
            {choice.available ? null : (
              <small>
                <span className="visually-hidden">needs </span>
                {smallestPlan(choice)}
              </small>
            )}
          </span>
        </label>
      ))}
      {children}
      {last && chosen && last !== chosen.name ? (
        <p className="hint">{`You can't start ${titleOf({ name: last })} anymore, so we selected ${titleOf(chosen)}.`}</p>
      ) : null}
    </fieldset>
  )
}
