import type { RunRow } from '../../../db/schema/fleet.ts'
import type { Machine, MachineSocket } from '../ports/machine.ts'
import type { Context } from '../runtime/context.ts'
import type { Env } from '../settings/env.ts'

/** Through the private network that the Worker is bound to (docs/decisions/016). */
export function fleetNetwork(fleet: NonNullable<Env['FLEET']>): Machine {
  return {
    fetch: (address, path, request, from) =>
      fleet.fetch(
        (from ? new Request(`http://${address}${path}`, from) : `http://${address}${path}`) as never,
        {
          ...request,
          redirect: 'manual',
        } as never,
      ) as unknown as Promise<Response>,
    connect: (address) => fleet.connect(address, { allowHalfOpen: true }) as unknown as MachineSocket,
  }
}

/** Where we reach this run's machine: inside our network if it has a door, otherwise on the internet. */
export function addressOf(
  { machine }: Pick<Context, 'machine'>,
  { doorLabel, privateAddress, ipAddress }: Pick<RunRow, 'doorLabel' | 'privateAddress' | 'ipAddress'>,
): string | null {
  return machine && doorLabel && privateAddress ? privateAddress : ipAddress
}

/** Amazon gives out only these inside a network (RFC 1918). */
export const isPrivateAddress = (address: string): boolean =>
  /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.)/.test(address)
