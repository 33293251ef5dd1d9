import * as z from 'zod/mini'
import { instant } from './fields.ts'

/** A link through a run's door, for hours that its owner chose. */
export const guest = z.object({
  id: z.string(),
  created_at: instant,
  expires_at: instant,
  /** When someone last came in with it. */
  last_used_at: z.nullable(instant),
  /** How many browsers came in with it. */
  uses: z.number(),
})
export type Guest = z.infer<typeof guest>

/** Until when a guest may enter a run. */
export type GuestEnd = { run: string; until: string }
