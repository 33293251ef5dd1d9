import { memo } from 'react'
import { healthColor, instanceStateColor, instanceUptime } from '../../domain/instance.ts'
import { dollars } from '../../domain/money/money.ts'
import { formatUptime } from '../../domain/server.ts'
import type { Instance } from '../../domain/wire/fleet.ts'
import { worldText } from '../../domain/worlds.ts'
import { Badge } from '../../ui/Badge.tsx'
import { TimeIn } from '../../ui/Time.tsx'

type Props = { instance: Instance; now: number; local: boolean }

/** One row of the fleet table, with its cells in the order of `INSTANCE_COLUMNS`. */
export const InstanceRow = memo(function InstanceRow({ instance, now, local }: Props) {
  const { name, status_check, launch_time, run_id, owner_id, owner_email, cost_dollars } = instance
  const uptime = instanceUptime(instance, now)
  return (
    <tr>
      <th scope="row" title={name ?? undefined}>
        {run_id ? (
          <a href={`/admin/runs/${run_id}`}>
            <bdi>{name ?? run_id}</bdi>
          </a>
        ) : (
          <bdi>{name ?? '—'}</bdi>
        )}
      </th>
      <td>{instance.instance_id}</td>
      <td title={worldText(instance) ?? undefined}>
        {instance.instance_type}
        {instance.environment ? <small> {worldText(instance)}</small> : null}
      </td>
      <td>
        <Badge color={instanceStateColor(instance.state)}>{instance.state}</Badge>
      </td>
      <td>{status_check ? <Badge color={healthColor(status_check)}>{status_check}</Badge> : '—'}</td>
      <td>{instance.private_ip ?? '—'}</td>
      <td>{instance.public_ip ?? '—'}</td>
      <td>{launch_time ? <TimeIn at={launch_time} local={local} layout="brief" /> : '—'}</td>
      <td>{uptime === null ? '—' : formatUptime(uptime)}</td>
      <td title={owner_email ?? undefined}>
        {owner_id ? <a href={`/admin/people/${owner_id}`}>{owner_email}</a> : (owner_email ?? '—')}
      </td>
      <td>{typeof cost_dollars === 'number' ? dollars(cost_dollars) : '—'}</td>
    </tr>
  )
})
