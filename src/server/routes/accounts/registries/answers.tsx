import type { Context as HonoContext } from 'hono'
import { LOGIN_REMOVED, LOGIN_SAVED } from '../../../../domain/registry-login.ts'
import { putRegistry, removeRegistry } from '../../../accounts/registries.ts'
import { listRegistries } from '../../../fleet/secrets.ts'
import { type AppEnv, signedIn } from '../../../http/app-env.ts'
import { answer } from '../../../http/reply.ts'

type Call = HonoContext<AppEnv>

export async function list(c: Call): Promise<Response> {
  return c.json({ registries: await listRegistries(c.var.ctx, signedIn(c).user.id) })
}

export async function put(c: Call, input: Parameters<typeof putRegistry>[2]): Promise<Response> {
  const login = await putRegistry(c.var.ctx, signedIn(c).user, input)
  return c.get('form') ? answer(c, { message: LOGIN_SAVED }) : c.json(login)
}

export async function remove(c: Call, host: string): Promise<Response> {
  await removeRegistry(c.var.ctx, signedIn(c).user, host)
  return answer(c, { message: LOGIN_REMOVED })
}
