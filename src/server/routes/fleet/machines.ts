import { Hono } from 'hono'
import * as z from 'zod/mini'
import { toIso } from '../../../domain/instant.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { body, text } from '../../http/body.ts'
import { deviceOf } from '../../http/caller.ts'

/** Loaded when needed: every isolate would evaluate it at startup. */
const machineFiles = () => import('../../fleet/machines/files.ts')

/** What our machines call: those in infra/image. Nobody else does, so none of it is in the API. */
export const machines = new Hono<AppEnv>()
  .post('/machines/credentials', body(z.object({ document: text, signature: text })), async (c) => {
    const { giveMachineFiles } = await machineFiles()
    c.header('Cache-Control', 'no-store')
    return c.json(await giveMachineFiles(c.var.ctx, c.req.valid('json'), deviceOf(c).address))
  })
  .post('/machines/key', body(z.object({ document: text, signature: text })), async (c) => {
    const { giveRunKey } = await import('../../fleet/machines/run-key.ts')
    const { key, expiresAt, run, program } = await giveRunKey(c.var.ctx, c.req.valid('json'), deviceOf(c).address)
    c.header('Cache-Control', 'no-store')
    return c.json({ key, expires_at: toIso(expiresAt), run, ...program })
  })
  .post(
    '/machines/files',
    body(z.object({ document: text, signature: text, phase: z.enum(['loaded', 'failed', 'saved']) })),
    async (c) => {
      const { hearMachine } = await machineFiles()
      const { phase, ...proof } = c.req.valid('json')
      await hearMachine(c.var.ctx, proof, phase, deviceOf(c).address)
      return c.body(null, 204)
    },
  )
