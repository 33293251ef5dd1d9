import { instantText, toIso } from '../../domain/instant.ts'
import { composeMessage, type Message } from './letter.ts'

/** Times are ms since 1970. */
type Held = { name: string; gpus: number; places: number; startsAt: number; endsAt: number }

const time = (ms: number) => instantText(toIso(ms), false)

function heldText({ gpus, places, startsAt, endsAt }: Held): string {
  return `${places === 1 ? '1 server' : `${places} servers`} with ${gpus} × L4 from ${time(startsAt)} to ${time(endsAt)}`
}

/** @param hasAccount otherwise, they have to sign up first */
export function groupAddedMail(origin: string, group: Held, hasAccount: boolean): Message {
  const { name } = group
  if (hasAccount)
    return composeMessage('line', `We hold servers for ${name}`, [
      `You're in the group ${name}. We hold ${heldText(group)} for its people.`,
      'Start your server as usual. You still need a plan or free trial minutes.',
      { link: `${origin}/line`, label: 'See your group' },
    ])
  return composeMessage('line', `You're invited to ${name}`, [
    `The organizer of ${name} listed this email address. We hold ${heldText(group)} for its people.`,
    'To get one, sign up with this address before then. You still need a plan or free trial minutes.',
    { link: `${origin}/sign_up`, label: 'Sign up' },
    `Don't know ${name}? You can ignore this email.`,
  ])
}

export function groupChangedMail(origin: string, group: Held): Message {
  return composeMessage('line', `Changed: ${group.name}`, [
    `We now hold ${heldText(group)} for the people of ${group.name}.`,
    { link: `${origin}/line`, label: 'See your group' },
  ])
}

export function groupEndedMail(name: string): Message {
  return composeMessage('line', `${name} ended early`, [
    `We no longer hold servers for ${name}. If you're running one, it keeps running.`,
  ])
}

export function groupRemovedMail(name: string): Message {
  return composeMessage('line', `You're no longer in ${name}`, [
    `We no longer hold servers for you in the group ${name}. If that's a mistake, ask its organizer.`,
  ])
}
