import { instantText, toIso } from '../../domain/instant.ts'
import { FILES_OVER_DAYS } from '../../domain/money/plan-files.ts'
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
      ? "Until you free up space, we refuse uploads, and your next server can read your files in /data but can't write there. A running server isn't affected. If it or a program writes more than your plan includes, we email you before we delete the newest files over the limit."
      : "Once they're full, we refuse uploads, and new servers can't write to /data.",
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
  return composeMessage('account', `We'll delete your newest files ${left}`, [
    `Your files use ${used}, more than the ${limit} that your plan includes. On ${day(deleteAt)} (UTC), we'll delete the newest ones until the rest fits. They can't be recovered.`,
    "If you delete files or choose a larger plan before then, we won't delete anything.",
    { link: `${origin}/files`, label: 'See your files' },
    { link: `${origin}/subscriptions`, label: 'See plans' },
  ])
}

/** Before a smaller plan begins that has less room than they use. */
export function filesSmallerPlanMail(
  origin: string,
  { plan, at, used, limit }: { plan: string; at: number; used: string; limit: string },
): Message {
  return composeMessage('account', `Your files don't fit in ${plan}`, [
    `Your files use ${used}, and ${plan} includes ${limit}. It begins on ${day(at)} (UTC). ${FILES_OVER_DAYS} days later, we delete the newest files until the rest fits. They can't be recovered.`,
    'Download what you need and delete what you no longer need before then, or keep your current plan.',
    { link: `${origin}/files`, label: 'See your files' },
    { link: `${origin}/account_overview`, label: 'Keep your plan' },
  ])
}

export function filesOverDeletedMail(origin: string): Message {
  return composeMessage('account', 'We deleted your newest files', [
    `Your files used more than your plan includes for over ${FILES_OVER_DAYS} days, so we deleted the newest ones until the rest fit.`,
    { link: `${origin}/files`, label: 'See your files' },
  ])
}

/**
 * @param days before the deletion: 30, 7, or 1
 * @param beyond what happens to them in plans that don't include them
 */
export function filesEndMail(
  origin: string,
  { days, deleteAt, isUnpaid, beyond }: { days: number; deleteAt: number; isUnpaid: boolean; beyond: string[] },
): Message {
  const left = days === 1 ? 'tomorrow' : `in ${days} days`
  return composeMessage('account', `We'll delete your files ${left}`, [
    `Your plan ${isUnpaid ? 'is unpaid' : 'has ended'}. You can read and download your files until ${day(deleteAt)} (UTC). Then we'll delete them. They can't be recovered.`,
    ...(isUnpaid
      ? ['If you pay the open invoice before then, the files that your plan includes stay.']
      : ['If you choose a plan that includes them before then, your files stay.', ...beyond]),
    { link: `${origin}/files`, label: 'Download your files' },
    { link: `${origin}/subscriptions`, label: 'See plans' },
  ])
}

/** The deletion begins; it may take minutes. */
export function filesDeletedMail(origin: string, isUnpaid: boolean): Message {
  return composeMessage('account', 'We are deleting your files', [
    `Your plan ${isUnpaid ? 'has been unpaid for 30 days' : 'ended 30 days ago'}, so we're deleting your files now. They can't be recovered.`,
    `${isUnpaid ? 'Pay the open invoice' : 'Choose a plan'} whenever you want to keep files again.`,
    { link: `${origin}/subscriptions`, label: 'See plans' },
  ])
}
