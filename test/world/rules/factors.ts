import { THIEF } from '../habits/thief.ts'
import type { Rule } from './rule.ts'

export const FACTORS_RULES: Rule[] = [
  {
    name: 'a-password-opens-nothing',
    sentence:
      'Who knows only the password of an account with a second factor gets no sign-in, token, or console, changes no password or factor, and closes nothing. What it opened before ends.',
    broken: ({ world, rows }) => [
      ...world.thefts,
      ...rows.signIns
        .filter(({ userAgent, revokedAt }) => userAgent === THIEF && revokedAt === null)
        .filter(({ userId }) => rows.totps.some((one) => one.userId === userId && one.confirmedAt !== null))
        .map(({ id }) => `${id} is a thief's`),
    ],
  },
]
