import {
  changeOnThePage,
  closeWithFiles,
  fillUp,
  keepWhatPremiumHeld,
  letThePlanEnd,
  loseTheMachine,
  payLateWithTooMuch,
  record,
  stealTheProof,
} from './files/file-habits.ts'
import { useUpABudget } from './habits/budget.ts'
import { letTheCardPay, stopTheTries } from './habits/cards.ts'
import { compete } from './habits/competition.ts'
import { operate } from './habits/console.ts'
import { moveEnds } from './habits/end.ts'
import {
  loseAtTheEnd,
  missAllServers,
  refuseWhatRuns,
  startInAFullZone,
  startOften,
  stopAfterTheTrial,
  stopAtAnAlarm,
  stopInSilence,
} from './habits/fleet.ts'
import { holdPlacesBack } from './habits/group.ts'
import type { Habit } from './habits/habit.ts'
import { outgrowThePlan } from './habits/large-server.ts'
import { addAPlace, leaveAndReturn, letHoldsLapse, lineUp } from './habits/line.ts'
import {
  buyWhileItRuns,
  leaveBillUnpaid,
  leavePlanUnpaid,
  payAfterClosing,
  reopenDaily,
  spreadTrial,
} from './habits/money.ts'
import { changePlans } from './habits/plan.ts'
import { runPrograms } from './habits/program.ts'
import { repeatCalls } from './habits/repeated-calls.ts'
import { signUpAgain } from './habits/sign-up.ts'
import { stealThePassword } from './habits/thief.ts'
import { keepMachinesWarm, startOnABadOne, startWarm } from './habits/warm.ts'
import { receiveEvents } from './habits/webhook.ts'

/** By kind of step, so that a new one makes no other rarer. */
export const HABITS = {
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
  cards: [letTheCardPay, letTheCardPay, stopTheTries],
  webhook: [receiveEvents],
  console: [operate],
  'sign-up': [signUpAgain],
  thief: [stealThePassword],
  'large server': [outgrowThePlan],
  end: [moveEnds],
  program: [runPrograms],
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
    keepWhatPremiumHeld,
    payLateWithTooMuch,
  ],
  group: [holdPlacesBack],
  competition: [compete],
  warm: [keepMachinesWarm, startWarm, startWarm, startOnABadOne],
  line: [lineUp, lineUp, leaveAndReturn, letHoldsLapse, addAPlace],
} satisfies Record<string, Habit[]>
export type HabitKind = keyof typeof HABITS
