import { announce } from './announce.ts'
import { showLocalTimes } from './local-times.ts'
import { isForOther, leaveToOther, request, untilLeft } from './request.ts'

/**
 * Keeps the bell, its list, and the warning before a server ends up to date on an open page. The server sends them as
 * HTML; without this script, the bell is a link and pages show what was true when they were loaded.
 */

const LATEST = '/notices/latest'
/** Most visits to a page end sooner. */
const SOCKET_AFTER_MS = 2_000
/** The browser's timers last at most 24 days. */
const LONGEST_MS = 86_400_000

const bell = document.querySelector<HTMLAnchorElement>('.bell')
const list = document.getElementById('bell-list')
const banner = document.getElementById('ending')
/** The dashboard counts down on its own. It and a run's page also listen, and pass on what they hear. */
const isDashboard = document.querySelector('[data-island="Dashboard"]') !== null
const isFollowed = isDashboard || document.querySelector('[data-follow]') !== null

let looking: ReturnType<typeof setTimeout> | undefined
let stopTicking = () => {}
let asked = 0

async function refresh(): Promise<void> {
  const mine = ++asked
  const answer = await fetch(LATEST, { signal: untilLeft() }).catch(() => null)
  if (answer && isForOther(answer)) return leaveToOther()
  // A later answer is on its way.
  if (!answer?.ok || mine !== asked) return
  const parts = document.createElement('template')
  parts.innerHTML = await answer.text()
  const fresh = parts.content.querySelector<HTMLAnchorElement>('.bell')
  if (!bell || !fresh) return
  const more = Number(fresh.dataset.unread) > Number(bell.dataset.unread)
  for (const { name, value } of fresh.attributes) bell.setAttribute(name, value)
  if (!fresh.dataset.look) delete bell.dataset.look
  bell.replaceChildren(...fresh.childNodes)
  const take = (place: HTMLElement | null, id: string) => {
    const part = parts.content.querySelector(`[data-for="${id}"]`)
    if (!place || !part) return
    showLocalTimes(part)
    place.replaceChildren(...part.childNodes)
  }
  if (more && !isDashboard) announce(`New notice: ${parts.content.querySelector('.notice-list strong')?.textContent}`)
  if (!isRead) take(list, 'bell-list')
  // Our own change also counts as news: its answer stays until there is a warning again.
  const warns = parts.content.querySelector('[data-for="ending"]')?.children.length
  if (!isDashboard && (warns || !banner?.querySelector('p.page-flash'))) take(banner, 'ending')
  arrange()
}

/** A PDF gets its name from the title. */
let isPrinting = false

function countInTitle(): void {
  const unread = bell?.querySelector('.count')?.textContent
  const shown = isPrinting ? '' : unread ? `$1(${unread}) ` : '$1'
  document.title = document.title.replace(/^(.* left · )?(\(\d+\+?\) )?/, shown)
}

function printing(event: Event): void {
  isPrinting = event.type === 'beforeprint'
  countInTitle()
}

/** The title, the countdown, and the next look. */
function arrange(): void {
  countInTitle()
  clearTimeout(looking)
  const look = bell?.dataset.look
  if (look) looking = setTimeout(() => void refresh(), Math.min(LONGEST_MS, Number(look) + 500))
  countDown()
}

function countDown(): void {
  stopTicking()
  const clock = banner?.querySelector<HTMLElement>('[data-countdown]')
  const ownTitle = () => document.title.replace(/^.* left · /, '')
  if (clock)
    void import('./ending-countdown.ts').then((file) => {
      stopTicking()
      stopTicking = clock.isConnected ? file.countDown(clock, ownTitle, refresh) : () => {}
    })
  else if (!isDashboard) document.title = ownTitle()
}

/** The bell is outside the list, so pressing it would close the list. */
let wasOpen = false
/** The open list was marked as read. */
let isRead = false

function toggle(event: MouseEvent): void {
  // Elsewhere it's a plain link: in a new tab, and in browsers without popovers.
  if (event.ctrlKey || event.metaKey || event.shiftKey || !bell || !list?.showPopover) return
  event.preventDefault()
  if (wasOpen || list.matches(':popover-open')) list.hidePopover()
  else {
    list.showPopover()
    list.focus()
    void refresh().then(readListed)
  }
  wasOpen = false
}

/** Items in the open list count as read, but look new until it closes. Later ones don't. */
async function readListed(): Promise<void> {
  const until = bell?.dataset.newest
  if (!until) return
  isRead = true
  await request('POST', '/api/v1/notices/read', { until })
  await refresh()
}

/** One request for all changes that come at once. */
function hear(): void {
  clearTimeout(looking)
  looking = setTimeout(() => void refresh(), 200)
}

async function listen(): Promise<void> {
  const { followJobs } = await import('./jobs-channel.ts')
  const { user } = JSON.parse(document.getElementById('bootstrap')?.textContent ?? '{}')
  // The channel passes on what it hears as an event of the page.
  followJobs(user.id, { onJob() {}, onServer() {}, onNews() {}, onConnection() {} })
}

if (bell && list) {
  bell.ariaExpanded = 'false'
  bell.addEventListener('click', toggle)
  bell.addEventListener('pointerdown', () => {
    wasOpen = list.matches(':popover-open')
  })
  list.addEventListener('toggle', (event) => {
    bell.ariaExpanded = String(event.newState === 'open')
    isRead = false
  })
  document.addEventListener('cable', hear)
  addEventListener('beforeprint', printing)
  addEventListener('afterprint', printing)
  addEventListener('pageshow', (event) => event.persisted && hear())
  arrange()
  if (!isFollowed) setTimeout(() => void listen(), SOCKET_AFTER_MS)
}
