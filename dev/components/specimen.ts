import type { ReactNode } from 'react'

/** A component of the visual language with everything that it can look like. */
export type Specimen = {
  name: string
  /** Where it lives. */
  file: string
  states: [label: string, shown: ReactNode][]
}

export const nothing = () => {}
