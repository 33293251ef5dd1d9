import { DAY_MS } from '../domain/instant.ts'
import { Time } from './Time.tsx'

/** Who can open a server that has a door: only you; you and 2 guests until 18:00. */
export function WhoMayEnter({ untils, now }: { untils: string[]; now: number }) {
  const ends = untils.filter((until) => Date.parse(until) > now).sort()
  const last = ends.at(-1)
  if (!last) return <>Private: only you.</>
  return (
    <>
      You and {ends.length === 1 ? 'a guest' : `${ends.length} guests`} can get in, until{' '}
      <Time at={last} layout={Date.parse(last) - now < DAY_MS ? 'time' : 'full'} />.
    </>
  )
}
