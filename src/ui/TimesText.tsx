import { Fragment } from 'react'
import { splitAtInstants } from '../domain/instant.ts'
import { Time } from './Time.tsx'

/** A sentence that may name instants in UTC, as our emails do: each becomes a `Time`. */
export function TimesText({ children }: { children: string }) {
  return splitAtInstants(children).map((part, i) => {
    return <Fragment key={i}>{typeof part === 'string' ? part : <Time at={part.at} />}</Fragment>
  })
}
