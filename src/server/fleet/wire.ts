import type { JobRow, RunRow } from '../../../db/schema/fleet.ts'
import { doorUrl } from '../../domain/door.ts'
import { toIso } from '../../domain/instant.ts'
import { UNITS_PER_DOLLAR } from '../../domain/money/money.ts'
import type { Job, Server } from '../../domain/wire/fleet.ts'
import type { Config } from '../settings/settings.ts'

/** Without the settings, treats doors as switched off. */
export function toServer(row: RunRow, { door }: Pick<Config, 'door'> = { door: null }): Server {
  const live = row.endedAt === null
  // A run that ends with its program is only there for that.
  const upAt = row.untilExit ? row.billedFrom : row.runningAt
  const isOfItsExit = row.untilExit || row.errorCode === 'exited' || row.errorCode === 'out_of_memory'
  const answers = live && row.billedFrom !== null && row.stopRequestedAt === null && row.privateAddress !== null
  return {
    id: row.id,
    name: row.name,
    server_id: row.placeId,
    active: live && upAt !== null,
    pending: live && upAt === null,
    stopping: live && row.stopRequestedAt !== null,
    requested_at: toIso(row.requestedAt),
    ends_at: toIso(row.endsAt),
    end_time: toIso(row.meteredUntil ?? row.stopRequestedAt ?? row.endedAt),
    startedAt: toIso(upAt),
    billed_from: toIso(row.billedFrom),
    ip_address: live ? row.ipAddress : null,
    door_url: door && answers && row.doorLabel ? doorUrl(door, row.doorLabel) : null,
    instance_type: row.instanceType,
    warm: row.toldWarm,
    availability_zone: row.availabilityZone,
    files_read_only: live ? row.filesReadOnly : null,
    disk_nearly_full: live && row.diskNearlyFull,
    environment: row.environment,
    vehicle: row.vehicle,
    parameters: row.parameters ?? {},
    until: row.untilExit ? 'exit' : null,
    command: row.command,
    exit_code: isOfItsExit ? row.exitCode : null,
    cost_dollars: row.costUnits === null ? null : row.costUnits / UNITS_PER_DOLLAR,
    ended_because: live ? null : row.endedBecause,
    error_code: live ? null : row.errorCode,
    error_message: row.errorMessage,
  }
}

export function toJob(row: JobRow, run: RunRow | null, config?: Pick<Config, 'door'>): Job {
  const finished = row.status === 'succeeded' || row.status === 'failed'
  return {
    id: row.id,
    kind: row.kind,
    status: row.status,
    progress: finished ? null : row.progress,
    result: row.result,
    // A job that failed shows its message only after it has cleaned up.
    error_message: row.status === 'failed' ? row.errorMessage : null,
    error_code: row.status === 'failed' ? row.errorCode : null,
    server: run && toServer(run, config),
    created_at: toIso(row.createdAt),
    updated_at: toIso(row.updatedAt),
  }
}
