import type { Context as HonoContext } from 'hono'
import { SENT_AGAIN, TEST_SENT, WEBHOOK_DELETED, WEBHOOK_ON } from '../../../../domain/webhook.ts'
import { WebhookPage } from '../../../../pages/Webhook.tsx'
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  rotateSecret,
  sendAgain,
  sendTestEvent,
  turnOnWebhook,
} from '../../../accounts/webhooks.ts'
import { type AppEnv, signedIn } from '../../../http/app-env.ts'
import { takeFlash } from '../../../http/flash.ts'
import { csrfToken } from '../../../http/middleware/csrf.ts'
import { renderPage } from '../../../http/render.tsx'
import { answer } from '../../../http/reply.ts'
import { developers } from '../../accounts/settings/answers.tsx'

type Call = HonoContext<AppEnv>

/** @param secret the new one */
export async function show(c: Call, id: string, secret: string | null = null): Promise<Response> {
  const details = await getWebhook(c.var.ctx, signedIn(c).user.id, id)
  const form = { csrfToken: csrfToken(c), flash: takeFlash(c), ...details, secret }
  return renderPage(
    c,
    { title: 'Webhook', assets: secret ? 'secrets' : 'settings' },
    <WebhookPage {...form} />,
    secret ? 201 : 200,
  )
}

export async function add(c: Call, input: Parameters<typeof createWebhook>[2]): Promise<Response> {
  const made = await createWebhook(c.var.ctx, signedIn(c).user, input)
  // Not a redirect: only this answer shows the secret. Sending the form again finds its URL taken.
  return c.get('form') ? developers(c, { webhookSecret: made.secret }) : c.json(made, 201)
}

export async function rotate(c: Call, id: string, input: Parameters<typeof rotateSecret>[3]): Promise<Response> {
  const secret = await rotateSecret(c.var.ctx, signedIn(c).user, id, input)
  return c.get('form') ? show(c, id, secret) : c.json({ secret }, 201)
}

export async function remove(c: Call, id: string): Promise<Response> {
  await deleteWebhook(c.var.ctx, signedIn(c).user, id)
  return answer(c, { message: WEBHOOK_DELETED })
}

export async function turnOn(c: Call, id: string): Promise<Response> {
  await turnOnWebhook(c.var.ctx, signedIn(c).user.id, id)
  return answer(c, { message: WEBHOOK_ON })
}

export async function test(c: Call, id: string): Promise<Response> {
  await sendTestEvent(c.var.ctx, signedIn(c).user.id, id)
  return answer(c, { message: TEST_SENT }, { status: 202 })
}

export async function again(c: Call, id: string, eventId: string): Promise<Response> {
  await sendAgain(c.var.ctx, signedIn(c).user.id, id, eventId)
  return answer(c, { message: SENT_AGAIN }, { status: 202 })
}
