import type { Context as HonoContext } from 'hono'
import { ENVIRONMENT_ADDED, ENVIRONMENT_REMOVED } from '../../../../domain/own-environment.ts'
import { Environments } from '../../../../pages/Environments.tsx'
import {
  addOwnEnvironment,
  mayBuildOwn,
  ownEnvironmentsQuery,
  removeOwnEnvironment,
  toOwnEnvironment,
} from '../../../fleet/own-environments.ts'
import { type AppEnv, signedIn } from '../../../http/app-env.ts'
import { takeFlash } from '../../../http/flash.ts'
import { csrfToken } from '../../../http/middleware/csrf.ts'
import { renderPage } from '../../../http/render.tsx'
import { answer } from '../../../http/reply.ts'

type Call = HonoContext<AppEnv>

export async function list(c: Call): Promise<Response> {
  const { ctx } = c.var
  const { id } = signedIn(c).user
  const [rows, included] = await Promise.all([ownEnvironmentsQuery(ctx, id), mayBuildOwn(ctx, id)])
  const form = { csrfToken: csrfToken(c), flash: takeFlash(c) }
  return renderPage(
    c,
    { title: 'Environments' },
    <Environments {...form} environments={rows.map(toOwnEnvironment)} included={included} />,
  )
}

export async function add(c: Call, input: Parameters<typeof addOwnEnvironment>[2]): Promise<Response> {
  const environment = await addOwnEnvironment(c.var.ctx, signedIn(c).user.id, input)
  return answer(c, { environment, message: ENVIRONMENT_ADDED }, { status: 201 })
}

export async function remove(c: Call, name: string): Promise<Response> {
  await removeOwnEnvironment(c.var.ctx, signedIn(c).user.id, name)
  return answer(c, { message: ENVIRONMENT_REMOVED })
}
