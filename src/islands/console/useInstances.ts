import { useRef, useState } from 'react'
import { type LoadError, loadError, type VendorError } from '../../domain/instance.ts'
import { type InstancePage, type InstanceView, instanceViewQuery, pageInstances } from '../../domain/instance-view.ts'
import type { Instance } from '../../domain/wire/fleet.ts'
import { request } from '../request.ts'

type InstanceList = {
  shown: InstancePage | null
  /** When they last loaded, by the server's clock; null if they never did. */
  updatedAt: number | null
  error: LoadError | null
  loading: boolean
}

type First = { now: number; shown: InstancePage | null; error: LoadError | null }
type When = { signal?: AbortSignal; afterMs?: number }

/** One page of the list as the server rendered it, and a way to load another. A failed load keeps the old rows. */
export function useInstances({ now, shown, error }: First) {
  const [list, setList] = useState<InstanceList>({ shown, updatedAt: shown ? now : null, error, loading: false })
  const [ahead] = useState(() => now - Date.now())
  const latest = useRef<AbortController>(undefined)

  /** The latest load wins: a poll's answer must not bring back the previous view. */
  async function load(view: InstanceView, { signal, afterMs = 0 }: When = {}): Promise<void> {
    latest.current?.abort()
    const mine = new AbortController()
    latest.current = mine
    const over = () => mine.signal.aborted || signal?.aborted
    setList((before) => ({ ...before, loading: true }))
    if (afterMs) await new Promise((passed) => setTimeout(passed, afterMs))
    if (over()) return
    const query = instanceViewQuery({ ...view, page: 1 })
    const path = query.size ? `/api/v1/instances?${query}` : '/api/v1/instances'
    const headers = { 'X-Page': String(view.page) }
    const ends = signal ? AbortSignal.any([mine.signal, signal]) : mine.signal
    const reply = await request<Instance[] & VendorError>('GET', path, undefined, ends, { headers })
    if (over()) return
    const { ok, status, body } = reply
    // Signed out, no longer an admin, or they must confirm who they are: the page itself redirects, and keeps its view.
    if (status === 401 || status === 403) return location.reload()
    if (!ok || !Array.isArray(body))
      return setList((before) => ({ ...before, error: loadError(status, body.error, body), loading: false }))
    const updatedAt = Date.now() + ahead
    const about = reply.headers?.get('X-Instances')
    // Without the header, the list is complete.
    const shown = about ? { ...JSON.parse(about), instances: body } : pageInstances(body, view, updatedAt)
    setList({ shown, updatedAt, error: null, loading: false })
  }
  return { ...list, load }
}
