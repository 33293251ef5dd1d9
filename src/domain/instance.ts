import { runSeconds } from './money/billing.ts'
import type { BadgeColor } from './server.ts'
import type { Instance } from './wire.ts'

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

export type FleetFigures = { running: number; changing: number; unwell: number; dollars: number }

/** What an operator wants first: how many are running, starting or stopping, or impaired, and what the runs cost. */
export function fleetFigures(instances: Instance[]): FleetFigures {
  const count = (is: (instance: Instance) => boolean) => instances.filter(is).length
  return {
    running: count(({ state }) => state === 'running'),
    changing: count(({ state }) => instanceStateColor(state) === 'yellow'),
    unwell: count(({ status_check }) => healthColor(status_check) === 'red'),
    dollars: instances.reduce((sum, { cost_dollars }) => sum + (cost_dollars ?? 0), 0),
  }
}

/** Why the list failed to load: the text after 'Error: ', and our server's reason if it gave one. */
export type LoadError = { message: string; reason: string | null }

/** @param status 0 if there was no response */
export function loadError(status: number, reason: string | null = null): LoadError {
  return { message: status ? `HTTP ${status}` : 'Failed to load', reason: status ? reason : null }
}
