import type { Page } from 'playwright-core'
import type { Cast, Role } from '../people/cast.ts'

/** One picture of the product: who looks at what, and what they did first. */
export type Screen = {
  name: string
  path: string
  as?: Role
  /** Brings the page into the state. `cast` knows the people, and controls what lies outside the product. */
  prepare?: (page: Page, cast: Cast) => Promise<unknown>
  /** What the browser may rightly complain about, such as an intended refusal. */
  complains?: RegExp
}
