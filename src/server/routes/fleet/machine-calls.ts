import type { Context as HonoContext } from 'hono'
import * as z from 'zod/mini'
import { AppError } from '../../../domain/error.ts'
import { toIso } from '../../../domain/instant.ts'
import { giveMachineFiles, hearMachine } from '../../fleet/machines/files.ts'
import { readIdentity } from '../../fleet/machines/identity.ts'
import { giveRunKey } from '../../fleet/machines/run-key.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { deviceOf } from '../../http/caller.ts'
import { logError } from '../../http/error-response.ts'
import { text } from '../../http/fields.ts'
import { limitOuter } from '../../http/middleware/outer-limit.ts'

type Call = HonoContext<AppEnv>

const proof = z.object({ document: text, signature: text })

export async function giveCredentials(c: Call): Promise<Response> {
  const { machine, address } = await hear(c, proof)
  c.header('Cache-Control', 'no-store')
  return c.json(await giveMachineFiles(c.var.ctx, machine, address))
}

export async function giveKey(c: Call): Promise<Response> {
  const { machine, address } = await hear(c, proof)
  const { key, expiresAt, run, program } = await giveRunKey(c.var.ctx, machine, address)
  c.header('Cache-Control', 'no-store')
  return c.json({ key, expires_at: toIso(expiresAt), run, ...program })
}

export async function hearOfFiles(c: Call): Promise<Response> {
  const { machine, address, said } = await hear(c, z.extend(proof, { phase: z.enum(['loaded', 'failed', 'saved']) }))
  await hearMachine(c.var.ctx, machine, said.phase, address)
  return c.body(null, 204)
}

export async function giveWorkTo(c: Call): Promise<Response> {
  const { machine, address, said } = await hear(c, z.extend(proof, { ready: z.boolean() }))
  const { giveWork } = await import('../../fleet/warm/work.ts')
  c.header('Cache-Control', 'no-store')
  return c.json(await giveWork(c.var.ctx, machine, address, said.ready))
}

/**
 * What a machine sends, counted by the machine that Amazon's signature names: the machines of a zone may share one
 * address with everything their containers request. Anything else counts for its address.
 * @throws too_many, malformed
 */
async function hear<T extends { document: string; signature: string }>(c: Call, shape: z.ZodMiniType<T>) {
  const { data } = shape.safeParse(await c.req.json().catch(() => null))
  const machine = data ? await readIdentity(c.var.ctx.config.machines, data) : null
  const { address } = deviceOf(c)
  await limitOuter(c.env, machine?.instanceId ?? address, (error) => logError(error, c))
  if (!data) throw new AppError('malformed', 'The request body must be a JSON object with a proof.')
  return { said: data, machine, address }
}
