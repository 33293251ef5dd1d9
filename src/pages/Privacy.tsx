import { FILES_KEPT_DAYS } from '../domain/money/plan-files.ts'
import { CLOSED_DAYS, COOKIE_S, DELIVERY_DAYS, TRACE_DAYS } from '../domain/retention.ts'
import { LOG_DAYS } from '../domain/run-log.ts'
import { KEPT_DELIVERIES } from '../domain/webhook.ts'
import { DataTable } from '../ui/DataTable.tsx'

type Kept = [what: string, why: string, until: string]

/** Only a site with files stores them. */
const FILES: Kept = [
  'Your files, and their names, sizes, and times',
  'To keep them for you and your servers',
  `Until you delete them; ${FILES_KEPT_DAYS} days after your plan ends, or when you close your account`,
]

/** What the database holds about a person, why, and how long: retention.ts and close-account.ts delete it. */
const KEPT: Kept[] = [
  [
    'Name, email address, and your password as a hash',
    'To sign you in and write to you',
    `${CLOSED_DAYS} days after you close your account`,
  ],
  [
    'Devices you sign in with: browser, IP address, times',
    'So you can see and end sign-ins',
    `${TRACE_DAYS} days after the sign-in ends`,
  ],
  [
    'How many sign-ins to your account we refused in each hour; browser and IP address of the last',
    'To show you who tried to get in',
    `${TRACE_DAYS} days, or until you close your account`,
  ],
  [
    'Your passkeys: name, public key, last use; your authenticator app: its encrypted secret and last use; recovery codes as hashes',
    'To make sure it’s you signing in',
    'Until you remove it or close your account',
  ],
  [
    'API tokens as hashes: name, last use, last IP address',
    'So your programs can sign in',
    `${TRACE_DAYS} days after the token ends`,
  ],
  [
    'Links for guests of your servers as hashes: how long they work, when and how often one was used',
    'To let in only your guests',
    `${TRACE_DAYS} days after the link ends`,
  ],
  [
    'Webhooks: URL, encrypted secrets, what we sent, the beginning of each answer',
    'To tell your programs what happens',
    `The last ${KEPT_DELIVERIES} deliveries, for ${DELIVERY_DAYS} days; all of it until you delete the webhook or close your account`,
  ],
  [
    'Secrets and registry logins for your own images: names, usernames, encrypted values',
    'To pull the images, and to give secrets to the containers that you start with them',
    'Until you remove one or close your account',
  ],
  ['Your servers: times, machine, address, what each cost', 'To run and bill them', 'Kept with your bills'],
  [
    'What your programs print on our servers, and what the machines report about them',
    'To show you what happened inside',
    `${LOG_DAYS} days after the server ends; a log until you delete it, and all of it until you close your account`,
  ],
  FILES,
  [
    'Plans, bills, invoices, and checkout visits',
    'To bill you, and because the law requires it',
    'As long as the law requires',
  ],
  [
    'That your mailbox had its free trial: a code made from its address with a secret key, which doesn’t identify you',
    'There is one free trial per mailbox',
    'For good, even after you close your account',
  ],
  [
    'Which unpaid bill of a closed account your mailbox owes, by the same code',
    'To collect it if you sign up again',
    'Until it is paid',
  ],
  [
    'Notices about your servers and bills, and when you read them',
    'To tell you what happened',
    `${TRACE_DAYS} days, or until you close your account`,
  ],
  ['Which emails you want', 'To send you no others', 'As long as you have your account'],
  ['Emails we sent you', 'To answer your questions about them', `${TRACE_DAYS} days`],
  ['Messages, feedback, and requests you sent us', 'To answer them', `${TRACE_DAYS} days`],
]

const COOKIES: [name: keyof typeof COOKIE_S, what: string][] = [
  ['sign_in', 'Keeps you signed in'],
  ['browser', 'Protects forms against other sites'],
  ['known', 'Tells your browser from a stranger’s after wrong passwords'],
  ['back', 'Brings you back after you sign in'],
  ['flash', 'Carries a message to the next page'],
  ['theme', 'Remembers light or dark, if you choose'],
]

/** In the largest unit that fits. */
function lasts(seconds: number): string {
  const [unit, length] = UNITS.find(([, length]) => seconds >= length) ?? ['second', 1]
  const count = seconds / length
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

const UNITS: [name: string, seconds: number][] = [
  ['year', 365 * 86_400],
  ['day', 86_400],
  ['minute', 60],
]

export function Privacy({ hasFiles }: { hasFiles: boolean }) {
  return (
    <article className="page prose">
      <h1>Privacy</h1>
      <p className="muted">
        Effective <time dateTime="2026-11-22">November 22, 2026</time>
      </p>
      <p>
        We store what the service needs to run, and nothing that tracks you. We have no ads, no analytics, and no
        trackers, and we do not sell your data.
      </p>
      <h2 id="data">What we store</h2>
      <DataTable
        caption="What we store about you"
        hideCaption
        columns={[
          { key: 'what', label: 'What', rowHeader: true },
          { key: 'why', label: 'Why' },
          { key: 'until', label: 'How long' },
        ]}
        rows={KEPT.filter((kept) => hasFiles || kept !== FILES).map(([what, why, until]) => ({
          id: what,
          cells: { what, why, until },
        }))}
      />
      <p>
        To stop people from guessing passwords, we count attempts per email address and IP address. The counters hold no
        address, only a hash. Our logs hold IDs and errors, but no names, addresses, or passwords.
      </p>
      <h2 id="servers">Your simulations</h2>
      <p>
        What you bring to a server is yours. We don’t look into it. When a server stops, we delete its disk. It can’t be
        restored, and no other customer gets it.{' '}
        {hasFiles
          ? 'We keep your files separately, in a private folder. They go straight between your browser or server and our storage provider. '
          : ''}
        If your server has a private address, Cloudflare and our code pass its traffic on and keep none of it.
      </p>
      <h2 id="others">Who else sees data</h2>
      <ul>
        <li>
          Stripe takes payments. It gets your email address and what you owe. Your card goes to Stripe only. If you
          enter a company, an address, or a tax ID there, your invoices and statements show them.
        </li>
        <li>Amazon Web Services runs the servers. Their labels hold IDs, not your name or address.</li>
        <li>Cloudflare runs this site, carries its traffic, and delivers our emails. Turso hosts our database.</li>
      </ul>
      <p>We share data with no one else, unless the law requires it.</p>
      <h2 id="cookies">Cookies</h2>
      <p>They are all our own and necessary, so there’s no banner.</p>
      <DataTable
        caption="Cookies we set"
        hideCaption
        columns={[
          { key: 'name', label: 'Cookie', rowHeader: true },
          { key: 'what', label: 'What it does' },
          { key: 'lasts', label: 'Lasts' },
        ]}
        rows={COOKIES.map(([name, what]) => ({ id: name, cells: { name, what, lasts: lasts(COOKIE_S[name]) } }))}
      />
      <p>
        A server’s private address has one more cookie, <code>__Host-door</code>. It lets you in and lasts until you
        close the browser. Any other cookies there come from the simulator.
      </p>
      <h2 id="rights">Your rights</h2>
      <ul>
        <li>See everything: under Settings, “Download my data” gives you one file.</li>
        <li>Correct it: change your name under Settings. To change your email address, ask us.</li>
        <li>
          Delete it: close your account under Settings. {CLOSED_DAYS} days later we delete your name, email address,
          password, devices, API tokens, and messages. We must keep bills, and we keep your mailbox’s code, so it gets
          no second free trial.
        </li>
      </ul>
      <p>
        Questions about your data? <a href="/help">Write to us.</a>
      </p>
    </article>
  )
}
