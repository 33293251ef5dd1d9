import { Hono } from 'hono'
import { html } from 'hono/html'
import { z } from 'zod'
import { componentsRoutes } from './components/routes.ts'
import type { Services } from './services.ts'
import { everyMinute, readWranglerConfig } from './wrangler-config.ts'

const faults = z.object({
  target: z.enum(['ec2', 'stripe', 'mail', 'files']),
  fault: z.string(),
  times: z.number().int().min(1).default(1),
  instance_id: z.string().optional(),
  action: z.string().optional(),
})

/** At most a century: a stored clock past the end of JavaScript's dates would break the stack for good. */
const jump = z.object({
  advance_seconds: z
    .number()
    .min(0)
    .max(100 * 366 * 86_400),
})

const idle = z.object({ instance_id: z.string(), seconds: z.number().int().min(0) })

const stripeFaults = z.enum(['error', 'lost_response', 'timeout'])
const filesFaults = z.enum(['error', 'timeout'])

/**
 * The local stack's own pages: captured mail, the clock, cron triggers, faults, the components. Never deployed.
 * @param styles where the browser finds the site's style sheets
 */
export function devRoutes(
  services: Services,
  runCron: (cron: string) => Promise<void>,
  styles: () => string[] = () => [],
) {
  const app = new Hono().basePath('/dev')
  /** `* * * * *` means every minute's work: it fires all those triggers at once, as when deployed. */
  const runTriggers = (cron: string) =>
    Promise.all((cron === '* * * * *' ? readWranglerConfig().crons.filter(everyMinute) : [cron]).map(runCron))
  app.onError((error, c) => c.json({ error: error.message }, 400))

  app.get('/mailbox.json', (c) => {
    const to = c.req.query('to')
    return c.json(services.mailbox.list().filter((mail) => !to || mail.to === to))
  })
  app.get('/mailbox', (c) => c.html(mailboxPage(services)))

  app.route('/', componentsRoutes(styles))

  app.post('/clock', async (c) => {
    const { advance_seconds } = jump.parse(await c.req.json())
    await services.clock.advance(advance_seconds)
    await services.stripe?.settle()
    // Alarms run in real time, so the minute's triggers wake whatever the jump made due.
    await runTriggers('* * * * *')
    return c.json({ now: new Date(services.clock.now()).toISOString() })
  })
  app.get('/clock', (c) => c.json({ now: new Date(services.clock.now()).toISOString() }))

  app.post('/cron', async (c) => {
    const { cron } = z.object({ cron: z.string() }).parse(await c.req.json())
    await runTriggers(cron)
    return c.json({ ran: cron })
  })

  // What a machine's metadata service would tell root on that machine.
  app.get('/identity/:instance', (c) => {
    if (!services.ec2) throw new Error('This stack has no ec2 stand-in.')
    return c.json(services.ec2.proofOf(c.req.param('instance')))
  })

  app.post('/faults', async (c) => {
    const { target, fault, times, instance_id, action } = faults.parse(await c.req.json())
    if (target === 'mail') services.mailbox.inject(times)
    else if (target === 'ec2' && services.ec2)
      services.ec2.inject(fault, times, { ...(instance_id ? { instance_id } : {}), ...(action ? { action } : {}) })
    else if (target === 'stripe' && services.stripe) services.stripe.inject(stripeFaults.parse(fault), times)
    else if (target === 'files') services.files.inject(filesFaults.parse(fault), times)
    else throw new Error(`This stack has no ${target} stand-in.`)
    return c.json({ target, fault, times })
  })
  app.post('/idle', async (c) => {
    const { instance_id, seconds } = idle.parse(await c.req.json())
    services.ec2?.leaveIdle(instance_id, seconds)
    return c.json({ instance_id, idle_seconds: seconds })
  })
  app.delete('/faults', (c) => {
    for (const standIn of [services.ec2, services.stripe, services.files, services.mailbox]) standIn?.heal()
    return c.json({ faults: 'none' })
  })
  return app
}

function mailboxPage(services: Services) {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>Captured mail</title>
        <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
        <style>
          :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
          body { max-width: 48rem; margin: 2rem auto; padding: 0 1rem }
          article { border: 1px solid #8886; border-radius: 8px; padding: 1rem; margin: 1rem 0 }
          h2 { font-size: 1.1rem; margin: 0 }
          p.meta { color: light-dark(#666, #aaa); margin: 0 0 .5rem; overflow-wrap: anywhere }
          pre { white-space: pre-wrap; overflow-wrap: anywhere; font: inherit }
        </style>
      </head>
      <body>
        <h1>Captured mail</h1>
        ${services.mailbox.list().length ? '' : html`<p>No mail yet.</p>`}
        ${services.mailbox.list().map(
          (mail) => html`<article>
            <h2>${mail.subject}</h2>
            <p class="meta">To ${mail.to} at ${mail.sent_at}${mail.reply_to ? `, reply to ${mail.reply_to}` : ''}</p>
            ${Object.entries(mail.headers ?? {}).map(([name, value]) => html`<p class="meta">${name}: ${value}</p>`)}
            <pre>${linked(mail.text)}</pre>
          </article>`,
        )}
      </body>
    </html>`
}

function linked(text: string) {
  return text.split(/(https?:\/\/\S+)/).map((part, i) => (i % 2 ? html`<a href="${part}">${part}</a>` : part))
}
