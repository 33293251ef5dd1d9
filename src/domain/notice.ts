/** What we tell people under the bell. Most of it also goes out as email, in the same words. */
export const NOTICE_KINDS = [
  'running',
  'ending',
  'ended',
  'line',
  'hours',
  'budget',
  'bill',
  'plan',
  'files',
  'webhook',
  'owed',
  'account',
] as const
export type NoticeKind = (typeof NOTICE_KINDS)[number]

/** Security, money owed, and files that we delete: nobody can switch these emails off. */
const ALWAYS = ['owed', 'account'] as const
/** What people may switch off. */
export type MailKind = Exclude<NoticeKind, (typeof ALWAYS)[number]>

export const isMailKind = (kind: string): kind is MailKind => Object.hasOwn(MAIL_KINDS, kind)

// Stryker disable StringLiteral: text for people; the route tests check it.
/** The emails to choose from, in the page's order, as its check boxes name them. */
export const MAIL_KINDS: Record<MailKind, string> = {
  running: 'Each day that a server keeps running',
  ending: 'Before a server stops',
  ended: "When a server stops that you didn't stop yourself",
  line: 'When your turn in line comes, and about your groups',
  hours: "When your plan's hours run low",
  budget: 'When your budget is used up',
  bill: 'When we receive a payment',
  plan: 'About your plan',
  files: 'When your files are almost full',
  webhook: 'When we switch off a webhook',
}
export const NOTICES_READ = 'All notices marked as read.'
export const MAILS_SAVED = 'Saved.'
// Stryker restore StringLiteral

/** How many the page lists, and how many open under the bell. */
export const LISTED_NOTICES = 100
export const LATEST_NOTICES = 8

/** The number on the bell. Above 99, the exact count doesn't matter. */
export function unreadText(unread: number): string {
  return unread > 99 ? '99+' : String(unread)
}
