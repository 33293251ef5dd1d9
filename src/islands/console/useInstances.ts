import { useState } from 'react'
import { type LoadError, loadError } from '../../domain/instance.ts'
import type { Instance } from '../../domain/wire.ts'
import { request } from '../request.ts'

export type InstanceList = {
  instances: Instance[]
  /** When they last loaded, by the server's clock; null if they never did. */
  updatedAt: number | null
  error: LoadError | null
  loading: boolean
}

type First = { now: number; instances: Instance[] | null; error: LoadError | null }

/** The list as the server rendered it, and a way to refresh it. A failed refresh keeps the old rows. */
export function useInstances({ now, instances, error }: First) {
  const [list, setList] = useState<InstanceList>({
    instances: instances ?? [],
    updatedAt: instances ? now : null,
    error,
    loading: false,
  })
  const [ahead] = useState(() => now - Date.now())

  async function refresh(signal?: AbortSignal): Promise<void> {
    setList((before) => ({ ...before, loading: true }))
    const { ok, status, body } = await request<Instance[]>('GET', '/api/v1/instances', undefined, signal)
    if (signal?.aborted) return
    // Signed out or no longer an admin: the page itself redirects.
    if (status === 401 || status === 403) return location.assign('/console')
    if (ok) setList({ instances: body, updatedAt: Date.now() + ahead, error: null, loading: false })
    else setList((before) => ({ ...before, error: loadError(status, body.error), loading: false }))
  }
  return { ...list, refresh }
}
