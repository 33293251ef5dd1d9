import { HOUR_MS } from './instant.ts'

/** Where the doors are: every run has its own host on the domain. */
export type Door = {
  /** Like `door.example`. */
  domain: string
  /** Locally http, and the site's port. */
  scheme: 'http' | 'https'
  /** `:8787` or nothing. */
  port: string
  /** The machine's ports with hosts of their own: `<label>-9090.door.example`. */
  webPorts: number[]
  /** The machine's ports that programs may reach by raw TCP. */
  tcpPorts: number[]
}

/** Too long to guess, and it fits in a host's name with `-65535` after it. */
export const LABEL_LENGTH = 24
const LABEL = /^([a-z0-9]{20,50})(?:-([1-9]\d{0,4}))?$/

/** Belongs to no run: this host says whether the machines' network answers. */
export const READY_LABEL = 'ready'

/** A run's label, and the port that its host names; null for any other host. */
export function findDoorHost(door: Door | null, host: string): { label: string; port: number | null } | null {
  if (!door) return null
  const name = host.toLowerCase().replace(/:\d+$/, '')
  if (!name.endsWith(`.${door.domain}`)) return null
  const [, label = '', port] = LABEL.exec(name.slice(0, -door.domain.length - 1)) ?? []
  return { label, port: port === undefined ? null : Number(port) }
}

export function doorUrl({ domain, scheme, port }: Door, label: string, machinePort: number | null = null): string {
  return `${scheme}://${label}${machinePort === null ? '' : `-${machinePort}`}.${domain}${port}/`
}

/** A ticket is on its way from the site to the door for this long at most. */
export const TICKET_MS = 60_000
export const GUEST_HOURS = { least: 1, most: 72 }
/** Guest links that are open at once. */
export const MAX_GUESTS = 20
export const guestMs = (hours: number) => hours * HOUR_MS

/** Closes a WebSocket whose access has ended, for example with the run. */
export const ACCESS_ENDED = 4001

/** On every door's host, this path is ours. The site and the machine never see it. */
export const ENTER_PATH = '/.door/enter'
/** Ours on a run's main host: lets a browser into the hosts of its other ports. */
export const PORTS_PATH = '/.door/ports'
