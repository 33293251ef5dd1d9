import { planName } from '../../domain/money/plan.ts'
import type { Worlds } from '../../domain/wire/fleet.ts'
import { titleOf } from '../../domain/worlds.ts'
import { DataTable } from '../../ui/DataTable.tsx'

type Choice = Worlds['environments'][number] | Worlds['vehicles'][number]

/** The catalog as it is today, beside what the plans' texts promise. */
export function WorldTable({ worlds }: { worlds: Worlds }) {
  const row = (kind: string) => (choice: Choice) => ({
    id: `${kind} ${choice.name}`,
    cells: {
      name: titleOf(choice),
      kind,
      plans: choice.plans.map(planName).join(', '),
      description: 'description' in choice ? choice.description : null,
    },
  })
  return (
    <section className="compare worlds" aria-labelledby="worlds">
      <h2 id="worlds">What you can start today</h2>
      <DataTable
        caption="Environments and vehicles, with the plans that include them"
        hideCaption
        columns={[
          { key: 'name', label: 'Name', rowHeader: true },
          { key: 'kind', label: 'Kind' },
          { key: 'plans', label: 'Plans' },
          { key: 'description', label: 'Description' },
        ]}
        rows={[...worlds.environments.map(row('Environment')), ...worlds.vehicles.map(row('Vehicle'))]}
      />
      <p className="hint">We add environments as they are finished.</p>
    </section>
  )
}
