import { runSeconds } from './money/billing.ts'
import type { BadgeColor } from './server.ts'
import type { Instance } from './wire/fleet.ts'

const STATE_COLORS: Record<string, BadgeColor> = {
  running: 'green',
  stopped: 'gray',
  terminated: 'gray',
  stopping: 'yellow',
  pending: 'yellow',
  'shutting-down': 'yellow',
}

export function instanceStateColor(state: string): BadgeColor {
  return STATE_COLORS[state] ?? 'dark'
}

const HEALTH_COLORS: Record<string, BadgeColor> = { ok: 'green', impaired: 'red', 'insufficient-data': 'yellow' }

/** @param status the status check's result; null if the cloud gives none */
export function healthColor(status: string | null): BadgeColor {
  return HEALTH_COLORS[String(status)] ?? 'gray'
}

const UP = new Set(['running', 'stopping', 'shutting-down'])

/** Whole seconds since the launch; null for an instance that is not up. */
export function instanceUptime({ state, launch_time }: Pick<Instance, 'state' | 'launch_time'>, now: number) {
  return launch_time !== null && UP.has(state) ? runSeconds(Date.parse(launch_time), now) : null
}

export type FleetFigures = { all: number; running: number; changing: number; unwell: number; dollars: number }

export const isRunning = ({ state }: Instance) => state === 'running'
export const isChanging = ({ state }: Instance) => instanceStateColor(state) === 'yellow'
export const isUnwell = ({ status_check }: Instance) => healthColor(status_check) === 'red'

/** What an operator wants first: how many are running, starting or stopping, or impaired, and what the runs cost. */
export function fleetFigures(instances: Instance[]): FleetFigures {
  const count = (is: (instance: Instance) => boolean) => instances.filter(is).length
  return {
    all: instances.length,
    running: count(isRunning),
    changing: count(isChanging),
    unwell: count(isUnwell),
    dollars: instances.reduce((sum, { cost_dollars }) => sum + (cost_dollars ?? 0), 0),
  }
}

/** A vendor's own words for a failure, to look it up there. */
export type VendorError = { vendor_code?: string | undefined; vendor_request_id?: string | undefined }

/** Why the list failed to load: the text after 'Error: ', and our server's reason if it gave one. */
export type LoadError = { message: string; reason: string | null }

/** @param status 0 if there was no response */
export function loadError(status: number, reason: string | null = null, vendor: VendorError = {}): LoadError {
  if (!status) return { message: 'Failed to load', reason: null }
  const { vendor_code: code, vendor_request_id: id } = vendor
  const details = [code && `Code: ${code}.`, id && `Request ID: ${id}.`].filter(Boolean).join(' ')
  return { message: `HTTP ${status}`, reason: [reason, details].filter(Boolean).join(' ') || null }
}
