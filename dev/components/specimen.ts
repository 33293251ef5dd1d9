import type { ReactNode } from 'react'

/** A component and every state it can be in. */
export type Specimen = {
  name: string
  /** Its source file. */
  file: string
  states: Record<string, ReactNode>
}

export const nothing = () => {}
