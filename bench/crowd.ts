import { newSignedInPerson } from '../testing/people/signed-in-person.ts'
import { quantile, timed } from './median.ts'
import type { BenchSite } from './site.ts'
import { atMost, type Row } from './table.ts'

const CROWD = 50
const QUIET_ROUNDS = 100
const PAGES = ['/', '/pricing', '/sign_in', '/dashboard', '/robots.txt']

/** Other pages while 50 people sign up at once, compared with the same pages before and after. */
export async function benchCrowd(site: BenchSite): Promise<Row[]> {
  const person = await newSignedInPerson(site)
  const round = async () => {
    const times: number[] = []
    for (const page of PAGES) times.push(await timed(async () => (await person.call('GET', page)).text()))
    return times
  }
  const quietly = async () => {
    const times: number[] = []
    for (let i = 0; i < QUIET_ROUNDS; i++) times.push(...(await round()))
    return times
  }
  await quietly()
  const before = await quietly()

  let signingUp = true
  const answers = Promise.all(Array.from({ length: CROWD }, (_, i) => signUp(site, i))).finally(() => {
    signingUp = false
  })
  const crowded: number[] = []
  while (signingUp) crowded.push(...(await round()))
  const outcomes = await answers

  const quiet = [...before, ...(await quietly())]
  const count = (outcome: string) => outcomes.filter((other) => other === outcome).length
  const clear = count('201') + count('503, Retry-After')
  return [
    atMost(
      `p95 of ${crowded.length} other pages during ${CROWD} sign-ups at once, relative to the quiet p95`,
      quantile(crowded, 0.95) / quantile(quiet, 0.95),
      3,
      '×',
    ),
    {
      what: `sign-ups answered 201 or 503 with Retry-After (${count('201')} accounts)`,
      measured: `${clear}`,
      budget: `${CROWD}`,
      ok: clear === CROWD,
    },
  ]
}

async function signUp(site: BenchSite, i: number): Promise<string> {
  const password = 'a crowd of pilots'
  const response = await fetch(`${site.url}/users`, {
    method: 'POST',
    headers: { Origin: site.url, 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'application/json' },
    body: JSON.stringify({
      user: {
        name: 'Ada',
        email: `crowd-${i}@example.com`,
        password,
        password_confirmation: password,
        terms_of_service: true,
      },
    }),
  })
  await response.text()
  return response.headers.has('Retry-After') ? `${response.status}, Retry-After` : `${response.status}`
}
