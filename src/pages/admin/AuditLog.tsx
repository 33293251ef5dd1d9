import { ACTS, type AuditLine } from '../../domain/audit.ts'
import { Button, ButtonLink } from '../../ui/Button.tsx'
import { Field, Select } from '../../ui/Field.tsx'
import { EmptyState } from '../../ui/States.tsx'
import { AdminPage } from './AdminPage.tsx'
import { AuditTable } from './AuditTable.tsx'

type Props = { lines: AuditLine[]; older: string | null; act: string; of: string }

export function AuditLog({ lines, older, act, of }: Props) {
  const query = (more: Record<string, string> = {}) => new URLSearchParams({ act, of, ...more }).toString()
  const options = Object.entries(ACTS).map(([value, label]) => ({ value, label }))
  return (
    <AdminPage
      here="/admin/audit"
      title="Audit log"
      aside={<ButtonLink href={`/admin/audit.csv?${query()}`}>Download CSV</ButtonLink>}
    >
      <form className="row filters" action="/admin/audit">
        <Select name="act" label="Act" options={options} placeholder="All" defaultValue={act} />
        <Field name="of" label="ID or admin’s email" type="search" autoComplete="off" defaultValue={of} />
        <Button type="submit">Filter</Button>
      </form>
      {lines.length ? (
        <div className="card">
          <AuditTable lines={lines} caption="Audit log, newest first" />
        </div>
      ) : (
        <EmptyState>{act || of ? 'No acts match this filter.' : 'No acts yet.'}</EmptyState>
      )}
      {older ? <ButtonLink href={`/admin/audit?${query({ before: older })}`}>Older</ButtonLink> : null}
    </AdminPage>
  )
}
