import type { Context as HonoContext } from 'hono'
import { AppError } from '../../../../domain/error.ts'
import { type PlanType, planOffered, TRIAL_MINUTES } from '../../../../domain/money/plan.ts'
import type { Proof } from '../../../accounts/credentials/current-password.ts'
import * as catalog from '../../../fleet/catalog.ts'
import * as groups from '../../../fleet/line/groups.ts'
import { addPlaces as addPlacesToFleet, drainPlace, resumePlace, retirePlace } from '../../../fleet/places.ts'
import { type AppEnv, signedIn } from '../../../http/app-env.ts'
import { answer } from '../../../http/reply.ts'
import * as fleet from '../../../operations/fleet-acts.ts'
import { askToRemove, takeBack } from '../../../operations/lost-factors.ts'
import { confirmPassword, handOf, type Operator, once, type Why } from '../../../operations/operator.ts'
import * as person from '../../../operations/person-acts.ts'
import { ownPagePath } from './own-page.ts'

type C = HonoContext<AppEnv>
const operatorOf = (c: C): Operator => ({ ctx: c.var.ctx, admin: signedIn(c).user })

const handFor = (c: C, why: Why) => handOf(operatorOf(c), why)

export async function confirm(c: C, to: string, proof: Proof): Promise<Response> {
  await confirmPassword(operatorOf(c), signedIn(c), proof)
  return answer(c, { message: 'You can act for 15 minutes.' }, { to: ownPagePath(to) })
}

export async function stopRun(c: C, runId: string, why: Why): Promise<Response> {
  await once(c.var.ctx, why, fleet.forceStop(operatorOf(c), runId, why))
  return answer(c, { message: 'We are stopping the server.' })
}

export async function endInstance(c: C, { instance, ...why }: Why & { instance: string }): Promise<Response> {
  await once(c.var.ctx, why, fleet.endInstance(operatorOf(c), instance.trim(), why))
  return answer(c, { message: 'EC2 is ending the instance.' })
}

export async function suspend(c: C, userId: string, why: Why): Promise<Response> {
  await once(c.var.ctx, why, person.suspend(operatorOf(c), userId, why))
  return answer(c, { message: 'The account is suspended.' })
}

export async function lift(c: C, userId: string, why: Why): Promise<Response> {
  await once(c.var.ctx, why, person.lift(operatorOf(c), userId, why))
  return answer(c, { message: 'The suspension is lifted.' })
}

export async function removeFactor(c: C, userId: string, why: Why): Promise<Response> {
  await once(c.var.ctx, why, askToRemove(operatorOf(c), userId, why))
  return answer(c, { message: 'We emailed them, and remove it in a day.' })
}

export async function keepFactor(c: C, userId: string, why: Why): Promise<Response> {
  await once(c.var.ctx, why, takeBack(operatorOf(c), userId, why))
  return answer(c, { message: 'Their second factor stays.' })
}

type Grant = Why & { plan: string; hours: string }

export async function grant(c: C, userId: string, { plan, hours, ...why }: Grant): Promise<Response> {
  const known = planOffered(plan)
  if (!known && plan !== 'demo') throw new AppError('invalid', 'Please choose a plan.', { field: 'plan' })
  const usual = known ? (known.hours ?? 0) : TRIAL_MINUTES / 60
  const granted = { type: plan as PlanType, hours: hours.trim() === '' ? usual : Number(hours) }
  await once(c.var.ctx, why, person.grant(operatorOf(c), userId, granted, why))
  return answer(c, { message: 'The plan is granted.' })
}

export async function endPlan(c: C, userId: string, why: Why): Promise<Response> {
  await once(c.var.ctx, why, person.endGrant(operatorOf(c), userId, why))
  return answer(c, { message: 'The plan has ended.' })
}

export async function signOut(c: C, userId: string, why: Why): Promise<Response> {
  await once(c.var.ctx, why, person.signOutPerson(operatorOf(c), userId, why))
  return answer(c, { message: 'They are signed out everywhere.' })
}

type Correction = Why & { bill: string; seconds: string }

export async function correct(c: C, { bill, seconds, ...why }: Correction): Promise<Response> {
  const right = seconds.trim() === '' ? Number.NaN : Number(seconds)
  const changed = await once(c.var.ctx, why, person.correct(operatorOf(c), bill, right, why))
  return answer(c, { message: changed ? 'The bill is corrected.' : 'Nothing changed: the bill was already right.' })
}

export async function holdBill(c: C, hold: boolean, { bill, ...why }: Why & { bill: string }): Promise<Response> {
  await once(c.var.ctx, why, person.holdBill(operatorOf(c), bill, hold, why))
  return answer(c, { message: hold ? 'The invoice is held.' : 'The invoice is released.' })
}

type NewPlaces = Why & { type: string; zone: string; template: string; gpus: string; count: string }

export async function addPlaces(c: C, { type, zone, template, gpus, count, ...why }: NewPlaces): Promise<Response> {
  const input = {
    instanceType: type.trim(),
    availabilityZone: zone.trim(),
    launchTemplate: template.trim() || null,
    gpus: Number(gpus || Number.NaN),
    count: Number(count || Number.NaN),
  }
  const added = await once(c.var.ctx, why, addPlacesToFleet(handFor(c, why), input))
  return answer(c, { message: added.length === 1 ? 'Added a place.' : `Added ${added.length} places.` })
}

const PLACE_ACTS = {
  drain: { does: drainPlace, done: 'drained' },
  resume: { does: resumePlace, done: 'offered again' },
  retire: { does: retirePlace, done: 'retired' },
}
const isPlaceAct = (text: string): text is keyof typeof PLACE_ACTS => Object.hasOwn(PLACE_ACTS, text)

export async function changePlace(
  c: C,
  { place, act, ...why }: Why & { place: string; act: string },
): Promise<Response> {
  if (!isPlaceAct(act)) throw new AppError('invalid', 'Please choose what to do.', { field: 'act' })
  const { does, done } = PLACE_ACTS[act]
  await once(c.var.ctx, why, does(handFor(c, why), place.trim()))
  return answer(c, { message: `The place is ${done}.` })
}

type EnvironmentForm = Why & { name: string; description: string; image: string; from: string; position: string }

export async function addEnvironment(c: C, form: EnvironmentForm): Promise<Response> {
  const { name, description, image, from, position, ...why } = trimmed(form)
  const input = { name, description, image: image || null, from, position: position ? Number(position) : null }
  await once(c.var.ctx, why, catalog.addEnvironment(handFor(c, why), input))
  return answer(c, { message: `Added ${name}.` })
}

/** What the form leaves empty stays as it is. */
export async function changeEnvironment(c: C, form: EnvironmentForm): Promise<Response> {
  const { name, description, image, from, position, ...why } = trimmed(form)
  const change = {
    ...(description && { description }),
    ...(image && { image: image === 'machine' ? null : image }),
    ...(from && { from }),
    ...(position && { position: Number(position) }),
  }
  await once(c.var.ctx, why, catalog.changeEnvironment(handFor(c, why), name, change))
  return answer(c, { message: `${name} is changed.` })
}

type GroupForm = Why & Record<'name' | 'gpus' | 'places' | 'from' | 'until' | 'people', string> & { code: boolean }

export async function addGroup(c: C, form: GroupForm): Promise<Response> {
  const { name, gpus, places, from, until, people, code: withCode, ...why } = form
  const input = {
    name,
    gpus: Number(gpus || Number.NaN),
    places: Number(places || Number.NaN),
    from,
    until,
    people,
    withCode,
  }
  const { code } = await once(c.var.ctx, why, groups.makeGroup(handFor(c, why), input))
  return answer(c, { message: code ? `The group is set. Its code is ${code}.` : 'The group is set.' })
}

export async function endGroup(c: C, { group, ...why }: Why & { group: string }): Promise<Response> {
  await once(c.var.ctx, why, groups.endGroup(handFor(c, why), group))
  return answer(c, { message: 'The group has ended. Its unused places are everyone’s again.' })
}

export async function retireEnvironment(c: C, { name, ...why }: Why & { name: string }): Promise<Response> {
  await once(c.var.ctx, why, catalog.retireEnvironment(handFor(c, why), name))
  return answer(c, { message: `${name} is retired.` })
}

function trimmed(form: EnvironmentForm): EnvironmentForm {
  const { name, description, image, from, position } = form
  return {
    ...form,
    name: name.trim(),
    description: description.trim(),
    image: image.trim(),
    from,
    position: position.trim(),
  }
}
