import * as z from 'zod/mini'
import { REFUSALS, type RefusalCode } from '../error.ts'

export const message = z.object({ message: z.string() })

/** Every refusal. */
export const refusal = z.looseObject({
  code: z.enum(Object.keys(REFUSALS) as RefusalCode[]),
  error: z.string(),
  message: z.string(),
  errors: z.array(z.string()),
  page: z.optional(z.string()),
})
