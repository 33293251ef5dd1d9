import { useSyncExternalStore } from 'react'

const never = () => () => {}

/** False in the server's HTML and at hydration, true from then on: what needs our script shows up only once it runs. */
export function useHydrated(): boolean {
  return useSyncExternalStore(
    never,
    () => true,
    () => false,
  )
}
