import type { ReactNode } from 'react'

/** A component and every state it can be in. */
export type Specimen = {
  name: string
  /** Its source file. */
  file: string
  states: [label: string, shown: ReactNode][]
}

export const nothing = () => {}
