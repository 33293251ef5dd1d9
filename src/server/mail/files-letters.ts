import { instantText, toIso } from '../../domain/instant.ts'
import { composeMessage, type Message } from './letter.ts'

const day = (ms: number) => instantText(toIso(ms).slice(0, 10), false)

/** @param used and limit in words, like `8.1 GB` */
export function filesFullMail(
  origin: string,
  { percent, used, limit }: { percent: number; used: string; limit: string },
): Message {
  const isFull = percent >= 100
  return composeMessage('files', isFull ? 'Your files are full' : `Your files use ${percent}% of your plan`, [
    `Your files use ${used} of the ${limit} that your plan includes.`,
    isFull
      ? "Until there is room again, uploads are refused, and your next server can read your files in /data but can't write there. A server that runs now keeps its files as they are. If it, or a program, writes more than your plan includes, we email you before we delete the newest files over it."
      : "When nothing is left, uploads are refused, and servers that you start then can't write to /data.",
    'Delete files that you no longer need, or choose a larger plan.',
    { link: `${origin}/files`, label: 'See your files' },
    { link: `${origin}/subscriptions`, label: 'See plans' },
  ])
}

/** @param days before the deletion: 7 or 1 */
export function filesOverMail(
  origin: string,
  { days, deleteAt, used, limit }: { days: number; deleteAt: number; used: string; limit: string },
): Message {
  const left = days === 1 ? 'tomorrow' : `in ${days} days`
  return composeMessage('account', `We delete your newest files ${left}`, [
    `Your files use ${used}, more than the ${limit} that your plan includes. On ${day(deleteAt)} (UTC), we delete the newest ones until the rest fits, and nobody can bring them back.`,
    'If you delete files or choose a larger plan before then, we delete nothing.',
    { link: `${origin}/files`, label: 'See your files' },
    { link: `${origin}/subscriptions`, label: 'See plans' },
  ])
}

export function filesOverDeletedMail(origin: string): Message {
  return composeMessage('account', 'We deleted your newest files', [
    'Your files used more than your plan includes for over 7 days, so we deleted the newest ones until the rest fitted.',
    { link: `${origin}/files`, label: 'See your files' },
  ])
}

/** @param days before the deletion: 30, 7, or 1 */
export function filesEndMail(
  origin: string,
  { days, deleteAt, isUnpaid }: { days: number; deleteAt: number; isUnpaid: boolean },
): Message {
  const left = days === 1 ? 'tomorrow' : `in ${days} days`
  return composeMessage('account', `We delete your files ${left}`, [
    `Your plan ${isUnpaid ? 'is unpaid' : 'has ended'}. You can read and download your files until ${day(deleteAt)} (UTC). Then we delete them, and nobody can bring them back.`,
    `If you ${isUnpaid ? 'pay the open invoice' : 'choose a plan'} before then, your files stay.`,
    { link: `${origin}/files`, label: 'Download your files' },
    { link: `${origin}/subscriptions`, label: 'See plans' },
  ])
}

/** The deletion begins; it may take minutes. */
export function filesDeletedMail(origin: string, isUnpaid: boolean): Message {
  return composeMessage('account', 'We are deleting your files', [
    `Your plan ${isUnpaid ? 'has been unpaid for 30 days' : 'ended 30 days ago'}, so we are deleting your files now. Nobody can bring them back.`,
    `${isUnpaid ? 'Pay the open invoice' : 'Choose a plan'} whenever you want to keep files again.`,
    { link: `${origin}/subscriptions`, label: 'See plans' },
  ])
}
