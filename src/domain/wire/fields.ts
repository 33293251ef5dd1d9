import * as z from 'zod/mini'
import type { PlanType } from '../money/plan.ts'

/**
 * This folder has what crosses the wire, spelled as clients know it. Times are ISO 8601 in UTC; `docs/api.md` describes
 * every call. The OpenAPI document is made of these shapes, and tests compare them with every answer. Browsers only get
 * the types.
 */

export const instant = z.iso.datetime()
export const day = z.iso.date()

export const planType = z.enum(['demo', 'basic', 'premium', 'enterprise']) satisfies z.ZodMiniType<PlanType>

export const vehicle = z.enum(['uav', 'ugv', 'multi'])
export type Vehicle = z.infer<typeof vehicle>

export const size = z.number()
