import type { Random } from '../../testing/random.ts'
import { useUpABudget } from './budget-habits.ts'
import { compete } from './competition.ts'
import { operate } from './console-habits.ts'
import { moveEnds } from './end-habits.ts'
import {
  changeOnThePage,
  closeWithFiles,
  fillUp,
  letThePlanEnd,
  loseTheMachine,
  record,
  stealTheProof,
} from './files/file-habits.ts'
import {
  loseAtTheEnd,
  missAllServers,
  refuseWhatRuns,
  startInAFullZone,
  startOften,
  stopAfterTheTrial,
  stopAtAnAlarm,
  stopInSilence,
} from './fleet-habits.ts'
import { holdPlacesBack } from './group-habits.ts'
import type { Habit } from './habit.ts'
import { outgrowThePlan } from './large-server-habits.ts'
import { addAPlace, leaveAndReturn, letHoldsLapse, lineUp } from './line-habits.ts'
import {
  buyWhileItRuns,
  leaveBillUnpaid,
  leavePlanUnpaid,
  payAfterClosing,
  reopenDaily,
  spreadTrial,
} from './money-habits.ts'
import type { Person } from './people.ts'
import { changePlans } from './plan-habits.ts'
import { repeatCalls } from './repeated-calls.ts'
import { signUpAgain } from './sign-up-habits.ts'
import { receiveEvents } from './webhook-habits.ts'
import type { World } from './world.ts'

/** By kind of step, so that a new one makes no other rarer. */
const HABITS = {
  habit: [
    startOften,
    stopAtAnAlarm,
    refuseWhatRuns,
    loseAtTheEnd,
    missAllServers,
    startInAFullZone,
    stopInSilence,
    stopAfterTheTrial,
    reopenDaily,
    spreadTrial,
    leavePlanUnpaid,
    leaveBillUnpaid,
    payAfterClosing,
    buyWhileItRuns,
    repeatCalls,
  ],
  'plan change': [changePlans],
  budget: [useUpABudget],
  webhook: [receiveEvents],
  console: [operate],
  'sign-up': [signUpAgain],
  'large server': [outgrowThePlan],
  end: [moveEnds],
  files: [
    record,
    record,
    loseTheMachine,
    changeOnThePage,
    changeOnThePage,
    changeOnThePage,
    fillUp,
    letThePlanEnd,
    stealTheProof,
    closeWithFiles,
  ],
  group: [holdPlacesBack],
  competition: [compete],
  line: [lineUp, lineUp, leaveAndReturn, letHoldsLapse, addAPlace],
} satisfies Record<string, Habit[]>
export type HabitKind = keyof typeof HABITS

export async function habit(
  kind: HabitKind,
  world: World,
  random: Random,
  person: Person,
  people: Person[],
): Promise<void> {
  await random.pick<Habit>(HABITS[kind])(world, random, person, people)
}

export function isHabit(kind: string): kind is HabitKind {
  return Object.hasOwn(HABITS, kind)
}
