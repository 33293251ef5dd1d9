import type { Context as HonoContext } from 'hono'
import { MOST_ENDS } from '../../../../domain/drift.ts'
import { AppError } from '../../../../domain/error.ts'
import { type PlanType, planOffered, TRIAL_MINUTES } from '../../../../domain/money/plan.ts'
import { costAnswer } from '../../../../domain/warm-hours.ts'
import type { Proof } from '../../../accounts/credentials/current-password.ts'
import * as catalog from '../../../fleet/catalog.ts'
import * as groupPeople from '../../../fleet/line/group-people.ts'
import * as groups from '../../../fleet/line/groups.ts'
import {
  addPlaces as addPlacesToFleet,
  checkPlaces,
  drainPlace,
  resumePlace,
  retirePlace,
} from '../../../fleet/places.ts'
import { checkWarm, setWarm } from '../../../fleet/warm/settings.ts'
import { type AppEnv, signedIn } from '../../../http/app-env.ts'
import { toAppError } from '../../../http/error-response.ts'
import { answer } from '../../../http/reply.ts'
import * as fleet from '../../../operations/fleet-acts.ts'
import { askToRemove, takeBack } from '../../../operations/lost-factors.ts'
import { confirmPassword, handOf, type Operator, once, type Why } from '../../../operations/operator.ts'
import * as person from '../../../operations/person-acts.ts'
import { fourAtOnce } from '../../../runtime/four-at-once.ts'
import { ownPagePath } from './own-page.ts'

type C = HonoContext<AppEnv>
const operatorOf = (c: C): Operator => ({ ctx: c.var.ctx, admin: signedIn(c).user })

/** A form's own fields are checked before it, since its reason comes last. */
const handFor = (c: C, why: Why) => handOf(operatorOf(c), why)

export async function confirm(c: C, to: string, proof: Proof): Promise<Response> {
  await confirmPassword(operatorOf(c), signedIn(c), proof)
  return answer(c, { message: 'You can make changes for 15 minutes.' }, { to: ownPagePath(to) })
}

export async function stopRun(c: C, runId: string, why: Why): Promise<Response> {
  await once(c.var.ctx, why, fleet.forceStop(operatorOf(c), runId, why))
  return answer(c, { message: 'Stopping the server.' })
}

type Ends = Why & { instances: string[]; listed: string[]; all: boolean | null }

/** Ends the instances that were ticked, or all that were listed. One that can't be ended doesn't keep the others. */
export async function endInstances(c: C, { instances, listed, all, ...why }: Ends): Promise<Response> {
  const chosen = [...new Set(all ? listed : instances)]
  if (!chosen.length) throw new AppError('invalid', 'Please check at least one instance.')
  if (chosen.length > MOST_ENDS) throw new AppError('invalid', `Please end at most ${MOST_ENDS} at once.`)
  const kept: { id: string; error: unknown }[] = []
  await fourAtOnce(chosen, async (id) => {
    // Each is a separate act in the audit log.
    const own = { ...why, act_id: `${why.act_id}-${id}` }
    await once(c.var.ctx, own, fleet.endInstance(operatorOf(c), id, own)).catch((error) => kept.push({ id, error }))
  })
  const [first] = kept
  if (first && chosen.length === 1) throw first.error
  const ended = `EC2 is ending ${chosen.length - kept.length} of ${chosen.length}.`
  const faults = kept.map(({ id, error }) => `${id}: ${toAppError(error).message}`)
  const message = [ended, ...faults].join(' ')
  if (first && kept.length === chosen.length)
    throw new AppError(toAppError(first.error).code, message, { cause: first.error })
  return answer(c, { message })
}

export async function suspend(c: C, userId: string, why: Why): Promise<Response> {
  await once(c.var.ctx, why, person.suspend(operatorOf(c), userId, why))
  return answer(c, { message: 'Account suspended.' })
}

export async function lift(c: C, userId: string, why: Why): Promise<Response> {
  await once(c.var.ctx, why, person.lift(operatorOf(c), userId, why))
  return answer(c, { message: 'Suspension lifted.' })
}

export async function removeFactor(c: C, userId: string, why: Why): Promise<Response> {
  await once(c.var.ctx, why, askToRemove(operatorOf(c), userId, why))
  return answer(c, { message: 'We emailed them, and will remove it in a day.' })
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
  return answer(c, { message: 'Plan granted.' })
}

export async function endPlan(c: C, userId: string, why: Why): Promise<Response> {
  await once(c.var.ctx, why, person.endGrant(operatorOf(c), userId, why))
  return answer(c, { message: 'Plan ended.' })
}

export async function signOut(c: C, userId: string, why: Why): Promise<Response> {
  await once(c.var.ctx, why, person.signOutPerson(operatorOf(c), userId, why))
  return answer(c, { message: 'Signed out everywhere.' })
}

type Correction = Why & { bill: string; seconds: string }

export async function correct(c: C, { bill, seconds, ...why }: Correction): Promise<Response> {
  const right = seconds.trim() === '' ? Number.NaN : Number(seconds)
  const changed = await once(c.var.ctx, why, person.correct(operatorOf(c), bill, right, why))
  return answer(c, { message: changed ? 'Bill corrected.' : 'Nothing changed: the bill was already right.' })
}

export async function holdBill(c: C, hold: boolean, { bill, ...why }: Why & { bill: string }): Promise<Response> {
  await once(c.var.ctx, why, person.holdBill(operatorOf(c), bill, hold, why))
  return answer(c, { message: hold ? 'Invoice on hold.' : 'Invoice released.' })
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
  checkPlaces(input)
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

type WarmForm = Why & Record<'kind' | 'hours' | 'count' | 'time_zone' | 'price' | 'only', string>

/** With `only: 'cost'`, it just says what that would cost, and the form comes back. */
export async function keepWarm(c: C, form: WarmForm): Promise<Response> {
  const { kind, hours, count, time_zone, price, only, ...why } = form
  const [type = '', zone = ''] = kind.split(' ')
  const input = {
    instanceType: type,
    availabilityZone: zone,
    hours: hours.trim(),
    count: Number(count || Number.NaN),
    timeZone: time_zone.trim() || null,
    hourDollars: price ? Number(price) : null,
  }
  checkWarm(input)
  if (only === 'cost') {
    const { confirmed: _, ...typed } = form
    return answer(
      c,
      { message: costAnswer(input.hours, input.count, input.hourDollars) },
      { kind: 'info', carry: typed },
    )
  }
  await once(c.var.ctx, why, setWarm(handFor(c, why), input))
  return answer(c, { message: 'Hours saved.' })
}

type EnvironmentForm = Why & { name: string; description: string; image: string; from: string; position: string }

export async function addEnvironment(c: C, form: EnvironmentForm): Promise<Response> {
  const { name, description, image, from, position, ...why } = trimmed(form)
  const input = { name, description, image: image || null, from, position: position ? Number(position) : null }
  catalog.checkedEnvironment(input)
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
  catalog.checkedChange(change)
  await once(c.var.ctx, why, catalog.changeEnvironment(handFor(c, why), name, change))
  return answer(c, { message: `${name} changed.` })
}

type GroupForm = Why & Record<'name' | 'gpus' | 'places' | 'from' | 'until', string>

const toGroupInput = ({ name, gpus, places, from, until }: GroupForm) => ({
  name,
  gpus: Number(gpus || Number.NaN),
  places: Number(places || Number.NaN),
  from,
  until,
})

export async function addGroup(c: C, form: GroupForm & { people: string; code: boolean }): Promise<Response> {
  const input = { ...toGroupInput(form), people: form.people, withCode: form.code }
  groups.checkedGroup(c.var.ctx, input)
  const { code } = await once(c.var.ctx, form, groups.makeGroup(handFor(c, form), input))
  return answer(c, { message: code ? `Group created. Its code is ${code}.` : 'Group created.' })
}

export async function changeGroup(c: C, id: string, form: GroupForm): Promise<Response> {
  await once(c.var.ctx, form, groups.changeGroup(handFor(c, form), id, toGroupInput(form)))
  return answer(c, { message: "Group changed. We'll tell its people within a minute." })
}

export async function addPeople(c: C, id: string, { people, ...why }: Why & { people: string }): Promise<Response> {
  await once(c.var.ctx, why, groupPeople.addPeople(handFor(c, why), id, people))
  return answer(c, { message: "Added to the group. We'll tell them within a minute." })
}

export async function removePeople(
  c: C,
  id: string,
  { remove, ...why }: Why & { remove: string[] },
): Promise<Response> {
  const code = await once(c.var.ctx, why, groupPeople.removePeople(c.var.ctx, handFor(c, why), id, remove))
  return answer(c, { message: code ? `Removed from the group. The new code is ${code}.` : 'Removed from the group.' })
}

export async function endGroup(c: C, id: string, why: Why): Promise<Response> {
  await once(c.var.ctx, why, groups.endGroup(handFor(c, why), id))
  return answer(c, { message: 'Group ended. Anyone can use its unused servers.' })
}

export async function retireEnvironment(c: C, { name, ...why }: Why & { name: string }): Promise<Response> {
  await once(c.var.ctx, why, catalog.retireEnvironment(handFor(c, why), name))
  return answer(c, { message: `${name} retired.` })
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
