import type { Context as HonoContext } from 'hono'
import { ENVIRONMENT_ADDED, ENVIRONMENT_REMOVED } from '../../../../domain/own-environment.ts'
import { addOwnEnvironment, removeOwnEnvironment } from '../../../fleet/own-environments.ts'
import { type AppEnv, signedIn } from '../../../http/app-env.ts'
import { answer } from '../../../http/reply.ts'

type Call = HonoContext<AppEnv>

export async function add(c: Call, input: Parameters<typeof addOwnEnvironment>[2]): Promise<Response> {
  const environment = await addOwnEnvironment(c.var.ctx, signedIn(c), input)
  return answer(c, { environment, message: ENVIRONMENT_ADDED }, { status: 201 })
}

export async function remove(c: Call, name: string): Promise<Response> {
  await removeOwnEnvironment(c.var.ctx, signedIn(c), name)
  return answer(c, { message: ENVIRONMENT_REMOVED })
}
