import { ACTS, type AuditLine } from '../../domain/audit.ts'
import { type Column, DataTable } from '../../ui/DataTable.tsx'
import { Time } from '../../ui/Time.tsx'
import { AuditDetail } from './AuditDetail.tsx'

const COLUMNS: Column[] = [
  { key: 'at', label: 'When' },
  { key: 'act', label: 'What', rowHeader: true },
  { key: 'subject', label: 'To' },
  { key: 'actor', label: 'Who' },
  { key: 'reason', label: 'Why' },
]

export function AuditTable({ lines, caption }: { lines: AuditLine[]; caption: string }) {
  const rows = lines.map((line) => ({
    id: line.id,
    cells: {
      at: <Time at={line.at} />,
      act: (
        <div>
          {ACTS[line.act]}
          {line.detail ? <AuditDetail detail={line.detail} /> : null}
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
      reason: <bdi>{line.reason || '—'}</bdi>,
    },
  }))
  return <DataTable caption={caption} hideCaption columns={COLUMNS} rows={rows} />
}
