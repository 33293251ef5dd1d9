import { useEffect, useState } from 'react'
import type { Server } from '../domain/wire/fleet.ts'
import { useHydrated } from '../ui/useHydrated.ts'
import { request } from './request.ts'
import { usePoll } from './usePoll.ts'

const EVERY_MS = 5_000

/** Whether the live server's page answers: checked as soon as it has an address, then every 5 s until it does. */
export function useReachable(live: Server | undefined): boolean {
  const hydrated = useHydrated()
  // The HTML from our server links to a server that has answered once: without scripts, nothing else can check.
  const [reachable, setReachable] = useState(() => (!hydrated && live?.billed_from ? live.ip_address : null))
  const ip_address = live?.ip_address ?? null
  const waiting = live?.active === true && !live.stopping && ip_address !== null && reachable !== ip_address
  const ask = async (signal?: AbortSignal) => {
    const answer = await request<{ status?: string }>(
      'POST',
      '/api/v1/aws/check_server_ip_status',
      { ip_address },
      signal,
    )
    if (answer.body.status === 'reachable') setReachable(ip_address)
  }
  usePoll(ask, EVERY_MS, waiting)
  useEffect(() => {
    if (waiting) void ask()
  }, [waiting, ip_address])
  return ip_address !== null && reachable === ip_address
}
