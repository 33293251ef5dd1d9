import type { Random } from '../../testing/random.ts'
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
import type { Habit } from './habit.ts'
import {
  buyWhileItRuns,
  leaveBillUnpaid,
  leavePlanUnpaid,
  payAfterClosing,
  reopenDaily,
  spreadTrial,
} from './money-habits.ts'
import type { Person } from './people.ts'
import { repeatCalls } from './repeated-calls.ts'
import type { World } from './world.ts'

const HABITS: Habit[] = [
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
]

export async function habit(world: World, random: Random, person: Person, people: Person[]): Promise<void> {
  await random.pick(HABITS)(world, random, person, people)
}
