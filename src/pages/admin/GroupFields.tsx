import type { GroupRecord } from '../../domain/views.ts'
import { Field, TextArea } from '../../ui/Field.tsx'

/** `utc-fields.ts` shows it by the reader's clock. */
const inUtc = { type: 'datetime-local', 'data-utc': true } as const

type Refused = {
  typed: (name: string) => string | undefined
  error: (name: string) => string | null
}

/** What is held for a group, and when. @param group what it is now; null: a new one */
export function GroupFields({ typed, error, group = null }: Refused & { group?: GroupRecord | null }) {
  const field = (name: string, label: string, now?: string) =>
    ({ name, label, autoComplete: 'off', defaultValue: typed(name) ?? now, error: error(name) }) as const
  const minute = (at?: string) => at?.slice(0, 16)
  return (
    <>
      <Field
        {...field('name', 'Name', group?.name)}
        placeholder="Competition"
        hint="Its people see this name."
        required
      />
      <div className="pair">
        <Field
          {...field('places', 'Servers', group?.places.toString())}
          inputMode="numeric"
          placeholder="20"
          required
        />
        <Field {...field('gpus', 'GPUs of each', (group?.gpus ?? 1).toString())} inputMode="numeric" required />
      </div>
      <div className="pair">
        {group?.state === 'on' ? null : (
          <Field {...field('from', 'From (UTC)', minute(group?.from))} {...inUtc} required />
        )}
        <Field {...field('until', 'Until (UTC)', minute(group?.until))} {...inUtc} required />
      </div>
    </>
  )
}

export function PeopleField({ typed, error }: Refused) {
  return (
    <TextArea
      name="people"
      label="People"
      hint="Their email addresses, one per line. They still need a plan or free trial minutes."
      rows={4}
      defaultValue={typed('people')}
      error={error('people')}
    />
  )
}
