import { createHash, timingSafeEqual } from 'node:crypto'
import { AppError } from '../../../domain/error.ts'
import { bearerOf } from '../../http/caller.ts'
import { route } from '../../http/route.ts'
import { notFound } from '../site/not-found.tsx'

/** For Prometheus, which sends its own token. Sign-ins and API tokens don't open it. */
export const metrics = [
  route('GET /metrics', { access: 'public', ownToken: true, byItself: true }).answer(async (c) => {
    const { metricsTokens } = c.var.ctx.config
    if (!metricsTokens.length) return notFound(c)
    if (!metricsTokens.some((token) => isSame(token, bearerOf(c) ?? '')))
      throw new AppError('unauthenticated', 'Send METRICS_TOKEN as a bearer token.')
    const { readMetrics } = await import('../../operations/metrics.ts')
    const { PROMETHEUS_TYPE, toPrometheus } = await import('../../operations/prometheus.ts')
    const found = await readMetrics(c.var.ctx, c.env.VERSION ?? 'local')
    return c.body(toPrometheus(found), 200, { 'Content-Type': PROMETHEUS_TYPE })
  }),
]

/** Takes the same time for any guess. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
