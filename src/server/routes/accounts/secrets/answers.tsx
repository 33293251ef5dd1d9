import type { Context as HonoContext } from 'hono'
import { SECRET_REMOVED, SECRET_SAVED } from '../../../../domain/secret.ts'
import { putSecret, removeSecret } from '../../../accounts/secrets.ts'
import { listSecrets } from '../../../fleet/secrets.ts'
import { type AppEnv, signedIn } from '../../../http/app-env.ts'
import { answer } from '../../../http/reply.ts'

type Call = HonoContext<AppEnv>

export async function list(c: Call): Promise<Response> {
  return c.json({ secrets: await listSecrets(c.var.ctx, signedIn(c).user.id) })
}

export async function put(c: Call, input: Parameters<typeof putSecret>[2]): Promise<Response> {
  const secret = await putSecret(c.var.ctx, signedIn(c).user, input)
  return c.get('form') ? answer(c, { message: SECRET_SAVED }) : c.json(secret)
}

export async function remove(c: Call, name: string): Promise<Response> {
  await removeSecret(c.var.ctx, signedIn(c).user, name)
  return answer(c, { message: SECRET_REMOVED })
}
