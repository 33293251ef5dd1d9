import { splitAtInstants } from '../domain/instant.ts'
import { Time } from './Time.tsx'

/** A sentence that may name instants in UTC, as our emails do: each becomes a `Time`. */
export const TimesText = ({ children }: { children: string }) =>
  splitAtInstants(children).map((part) => (typeof part === 'string' ? part : <Time key={part.at} at={part.at} />))
