import { instantText, toIso } from '../../domain/instant.ts'
import { composeMessage, type Message } from './letter.ts'

const dashboard = (origin: string, label: string) => ({ link: `${origin}/dashboard`, label })

export function lineStartedMail(origin: string): Message {
  return composeMessage('line', 'Your server is starting', [
    "You waited in line, and it's your turn: we started your server as you asked. It's free until it answers.",
    dashboard(origin, 'Open the dashboard'),
    "Don't need it anymore? Stop it there.",
  ])
}

export function lineHeldMail(origin: string, until: number): Message {
  const time = instantText(toIso(until), false, 'time')
  return composeMessage('line', `A server is yours until ${time}`, [
    `You waited in line, and it's your turn. We hold a server for you until ${time}. Start it before then, or it goes to the next in line.`,
    dashboard(origin, 'Start your server'),
    'Holding it costs nothing.',
  ])
}

/** @param then what happens to their place in line */
export function lineLapsedMail(origin: string, then: 'end' | 'out'): Message {
  return composeMessage('line', then === 'out' ? 'You left the line' : 'You moved to the end of the line', [
    then === 'out'
      ? "We held three servers for you, and you didn't start any. They went to others, and you're no longer in line."
      : "We held two servers for you, and you didn't start either. They went to others, and you're now at the end of the line.",
    'If you choose “Start it for me”, we start your server as soon as it’s your turn.',
    { link: `${origin}/line`, label: then === 'out' ? 'Wait in line again' : 'See your place in line' },
  ])
}

/** @param reason our own sentence */
export function lineRefusedMail(link: string, reason: string): Message {
  return composeMessage('line', 'You left the line', [
    `It was your turn, but your account can't start a server now. ${reason}`,
    'The server went to the next in line. Once that is settled, you can wait in line again.',
    { link, label: 'See what to do' },
  ])
}
