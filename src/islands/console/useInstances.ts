import { useState } from 'react'
import { type LoadError, loadError } from '../../domain/instance.ts'
import type { Instance } from '../../domain/wire.ts'
import { request } from '../request.ts'

export type InstanceList = {
  instances: Instance[]
  /** When they were read, by the server's clock; null when they never were. */
  updatedAt: number | null
  error: LoadError | null
  loading: boolean
}

type First = { now: number; instances: Instance[] | null; error: LoadError | null }

/** The list as the server rendered it, and the reading of it again. What was there stays when that fails. */
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
    // No longer an administrator, or nobody: the page itself says where to go.
    if (status === 401 || status === 403) return location.assign('/console')
    if (ok) setList({ instances: body, updatedAt: Date.now() + ahead, error: null, loading: false })
    else setList((before) => ({ ...before, error: loadError(status, body.error), loading: false }))
  }
  return { ...list, refresh }
}
