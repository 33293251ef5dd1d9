import * as z from 'zod/mini'
import { toIso } from '../../../domain/instant.ts'
import { deviceOf } from '../../http/caller.ts'
import { text } from '../../http/fields.ts'
import { route } from '../../http/route.ts'

/** Loaded when needed: every isolate would evaluate it at startup. */
const machineFiles = () => import('../../fleet/machines/files.ts')

/** What our machines call: those in infra/image. Nobody else does, so none of it is in the API. */
export const machines = [
  // What our machines call, with a proof of what they are.
  route('POST /machines/credentials', {
    access: 'public',
    fromPrograms: true,
    takes: z.object({ document: text, signature: text }),
  }).answer(async (c) => {
    const { giveMachineFiles } = await machineFiles()
    c.header('Cache-Control', 'no-store')
    return c.json(await giveMachineFiles(c.var.ctx, c.req.valid('json'), deviceOf(c).address))
  }),
  route('POST /machines/key', {
    access: 'public',
    fromPrograms: true,
    takes: z.object({ document: text, signature: text }),
  }).answer(async (c) => {
    const { giveRunKey } = await import('../../fleet/machines/run-key.ts')
    const { key, expiresAt, run, program } = await giveRunKey(c.var.ctx, c.req.valid('json'), deviceOf(c).address)
    c.header('Cache-Control', 'no-store')
    return c.json({ key, expires_at: toIso(expiresAt), run, ...program })
  }),
  route('POST /machines/files', {
    access: 'public',
    fromPrograms: true,
    takes: z.object({ document: text, signature: text, phase: z.enum(['loaded', 'failed', 'saved']) }),
  }).answer(async (c) => {
    const { hearMachine } = await machineFiles()
    const { phase, ...proof } = c.req.valid('json')
    await hearMachine(c.var.ctx, proof, phase, deviceOf(c).address)
    return c.body(null, 204)
  }),
]
