import type { Context as HonoContext } from 'hono'
import { ACT_WITHIN_MS, READ_WITHIN_MS } from '../../../../domain/audit.ts'
import type { Acting } from '../../../../pages/admin/AdminPage.tsx'
import { AuditLog } from '../../../../pages/admin/AuditLog.tsx'
import { ConfirmPassword } from '../../../../pages/admin/ConfirmPassword.tsx'
import { Drift } from '../../../../pages/admin/Drift.tsx'
import { Environments } from '../../../../pages/admin/Environments.tsx'
import { Group } from '../../../../pages/admin/Group.tsx'
import { Lines } from '../../../../pages/admin/Lines.tsx'
import { People } from '../../../../pages/admin/People.tsx'
import { Person } from '../../../../pages/admin/Person.tsx'
import { Places } from '../../../../pages/admin/Places.tsx'
import { RunRecord } from '../../../../pages/admin/RunRecord.tsx'
import { newId } from '../../../crypto/id.ts'
import { listCatalog } from '../../../fleet/catalog.ts'
import { getGroup } from '../../../fleet/line/group-people.ts'
import { listGroups } from '../../../fleet/line/groups.ts'
import { listPlaces } from '../../../fleet/places.ts'
import { listWarm } from '../../../fleet/warm/settings.ts'
import { type AppEnv, signedIn } from '../../../http/app-env.ts'
import { logError, toAppError } from '../../../http/error-response.ts'
import { takeFlash } from '../../../http/flash.ts'
import { csrfToken } from '../../../http/middleware/csrf.ts'
import { renderPage } from '../../../http/render.tsx'
import * as log from '../../../operations/audit-log.ts'
import { findDrift } from '../../../operations/drift.ts'
import { readLines } from '../../../operations/lines.ts'
import { findPeople, getPerson } from '../../../operations/people.ts'
import { getRunRecord } from '../../../operations/run-record.ts'
import { ownPagePath } from './own-page.ts'

export { instanceList, instances, messages } from './instances.tsx'

type C = HonoContext<AppEnv>

export async function people(c: C): Promise<Response> {
  const q = c.req.query('q') ?? ''
  return renderPage(c, { title: 'People', assets: 'admin' }, <People {...(await findPeople(c.var.ctx, q))} q={q} />)
}

export async function person(c: C, id: string): Promise<Response> {
  const found = await getPerson(c.var.ctx, id)
  const self = signedIn(c).user.id === id
  return renderPage(c, { title: 'Person', assets: 'admin' }, <Person person={found} acting={acting(c)} self={self} />)
}

export async function run(c: C, id: string): Promise<Response> {
  const found = await getRunRecord(c.var.ctx, id)
  const self = signedIn(c).user.id === found.owner.id
  return renderPage(c, { title: 'Run', assets: 'admin' }, <RunRecord run={found} acting={acting(c)} self={self} />)
}

export async function lines(c: C): Promise<Response> {
  const { ctx } = c.var
  const [shown, groups] = await Promise.all([readLines(ctx), listGroups(ctx)])
  return renderPage(c, { title: 'Line', assets: 'admin' }, <Lines {...shown} groups={groups} acting={acting(c)} />)
}

export async function group(c: C, id: string): Promise<Response> {
  const found = await getGroup(c.var.ctx, id)
  return renderPage(c, { title: 'Group', assets: 'admin' }, <Group group={found} acting={acting(c)} />)
}

export async function places(c: C): Promise<Response> {
  const { ctx } = c.var
  const [all, warm] = await Promise.all([listPlaces(ctx), listWarm(ctx)])
  const shown = { places: all, warm, q: c.req.query('q') ?? '', acting: acting(c) }
  return renderPage(c, { title: 'Places', assets: 'admin' }, <Places {...shown} />)
}

export async function environments(c: C): Promise<Response> {
  const lines = await listCatalog(c.var.ctx)
  return renderPage(c, { title: 'Environments', assets: 'admin' }, <Environments lines={lines} acting={acting(c)} />)
}

/** Shows the page even if EC2 doesn't answer. */
export async function drift(c: C): Promise<Response> {
  const found = await findDrift(c.var.ctx).catch((thrown) => {
    logError(thrown, c)
    return toAppError(thrown).message
  })
  const shown = typeof found === 'string' ? { drift: null, error: found } : { drift: found, error: null }
  return renderPage(c, { title: 'Drift', assets: 'admin' }, <Drift {...shown} acting={acting(c)} />)
}

export async function audit(c: C): Promise<Response> {
  const filter = filterOf(c)
  const page = await log.listAudit(c.var.ctx, { ...filter, before: c.req.query('before') ?? null })
  return renderPage(c, { title: 'Audit log', assets: 'admin' }, <AuditLog {...page} {...filter} />)
}

export function auditFile(c: C): Response {
  c.header('Content-Type', 'text/csv; charset=utf-8')
  c.header('Content-Disposition', 'attachment; filename="audit-log.csv"')
  return c.body(log.auditFile(c.var.ctx, filterOf(c)))
}

export async function confirm(c: C): Promise<Response> {
  const flash = takeFlash(c)
  const to = ownPagePath(flash?.values?.to ?? c.req.query('to') ?? '')
  const { hasFactor, passwordAt } = signedIn(c)
  const back = c.var.ctx.now() - passwordAt < READ_WITHIN_MS ? to : null
  const form = { csrfToken: csrfToken(c), flash, to, back, hasFactor }
  return renderPage(c, { title: 'Confirm it’s you', assets: 'admin' }, <ConfirmPassword {...form} />)
}

const filterOf = (c: C) => ({ act: c.req.query('act') ?? '', of: c.req.query('of')?.trim() ?? '' })

function acting(c: C): Acting {
  const { pathname, search } = new URL(c.req.url)
  const isRecent = c.var.ctx.now() - signedIn(c).passwordAt < ACT_WITHIN_MS
  const confirmAt = isRecent ? null : `/admin/confirm?to=${encodeURIComponent(pathname + search)}`
  return { csrfToken: csrfToken(c), actId: newId('act'), flash: takeFlash(c), confirmAt }
}
