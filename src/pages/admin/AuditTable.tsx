import { ACTS, type AuditLine } from '../../domain/audit.ts'
import { type Column, DataTable } from '../../ui/DataTable.tsx'
import { Time } from '../../ui/Time.tsx'
import { AuditDetail } from './AuditDetail.tsx'

const COLUMNS: Column[] = [
  { key: 'at', label: 'When', lead: true },
  { key: 'act', label: 'What', rowHeader: true },
  { key: 'subject', label: 'To' },
  { key: 'actor', label: 'Who' },
]

export function AuditTable({ lines, caption }: { lines: AuditLine[]; caption: string }) {
  const rows = lines.map((line) => ({
    id: line.id,
    cells: {
      at: <Time at={line.at} />,
      act: (
        <div>
          {ACTS[line.act]}
          <AuditDetail reason={line.reason} detail={line.detail} />
        </div>
      ),
      subject: line.userId ? (
        <a className="mono address" href={`/admin/people/${line.userId}`}>
          {line.subject}
        </a>
      ) : (
        <span className="mono address">{line.subject}</span>
      ),
      actor: <bdi className="address">{line.actor}</bdi>,
    },
  }))
  return (
    <div className="audit">
      <DataTable caption={caption} hideCaption columns={COLUMNS} rows={rows} />
    </div>
  )
}
