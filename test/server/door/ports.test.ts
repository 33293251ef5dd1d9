import { expect, test } from 'vitest'
import { WEB_PORTS } from '../../../src/domain/machine-ports.ts'
import { newPerson, waitFor } from '../../../testing/people/client.ts'
import { ask, newBrowser, newRunner, OPENS, onMachine, openDoorStack, tokenOf } from '../../../testing/stack/door.ts'

const stack = await openDoorStack()
const ada = await newRunner(stack)
const { door_url: main, id } = ada.server
const at = (port: number, path = '') => main.replace('.door', `-${port}.door`) + path
for (const port of [8765, 9090])
  await onMachine(ada.server.machine, port, (req, res) => res.end(`${port} has ${req.url}`))
const guests = `/api/v1/servers/${id}/guests`
const newGuest = async () =>
  (await ada.person.post<{ guest: { id: string; url: string } }>(guests, { hours: 1 })).body.guest

/** What a browser sends for a frame, or a picture, in a page of this address. */
const frameIn = (page: string) => ({
  'sec-fetch-mode': 'navigate',
  'sec-fetch-site': 'same-site',
  'sec-fetch-dest': 'iframe',
  accept: 'text/html',
  referer: page,
})
const pictureIn = (page: string) => ({
  ...frameIn(page),
  'sec-fetch-mode': 'no-cors',
  'sec-fetch-dest': 'image',
  accept: '*/*',
})

test('one link lets a guest into every port, and its end ends all of them', async () => {
  const { url, id: guest } = await newGuest()
  const browser = newBrowser()
  expect((await browser.open(url)).answer?.status).toBe(200)
  const { way, answer } = await browser.open(at(9090, 'a/b?c=d&e'))
  expect(answer).toMatchObject({ status: 200, text: '9090 has /a/b?c=d&e' })
  expect(way.map((each) => new URL(each).pathname)).toEqual(['/a/b', '/.door/ports', '/.door/enter', '/a/b'])
  expect((await browser.open(at(8765), frameIn(main))).answer?.text).toBe('8765 has /')
  // Then it is in: no further way.
  expect((await browser.open(at(9090, 'x'))).way).toHaveLength(1)
  expect((await ada.person.request('DELETE', `${guests}/${guest}`)).status).toBe(200)
  for (const address of [main, at(9090), at(8765)])
    await expect
      .poll(async () => (await browser.open(address)).answer, { message: address })
      .toMatchObject({ status: 404, text: expect.stringContaining('This link no longer works') })
})

test('a picture of another port shows in a page of the run’s', async () => {
  const browser = newBrowser()
  await browser.open((await newGuest()).url)
  expect((await browser.open(at(9090, 'live.mjpg'), pictureIn(main))).answer?.text).toBe('9090 has /live.mjpg')
  const stranger = await newBrowser().open(at(9090, 'live.mjpg'), pictureIn(main))
  expect(stranger.answer?.status).toBe(401)
})

test('a link or a ticket for a port opens the main host first, and so the others', async () => {
  const browser = newBrowser()
  const link = (await newGuest()).url.replace('.door', '-9090.door')
  expect((await newBrowser().open(link)).answer?.text).toBe('9090 has /')
  expect((await browser.open(`${link}&to=/vnc.html`)).answer?.text).toBe('9090 has /vnc.html')
  expect((await browser.open(main)).way).toHaveLength(1)
  const owner = newBrowser(ada.person)
  expect((await owner.open(at(9090, 'x'))).answer?.text).toBe('9090 has /x')
  expect((await owner.open(at(8765, 'x'), frameIn(at(9090)))).answer?.text).toBe('8765 has /x')
  const other = newBrowser(ada.person)
  expect((await other.open(`${stack.url}/servers/${id}/open?port=9090&to=/y`)).answer?.text).toBe('9090 has /y')
  expect((await other.open(main)).way).toHaveLength(1)
})

test('whoever has no pass ends at the site, which knows the owner', async () => {
  const { way, answer } = await newBrowser().open(at(9090, 'a?b'))
  expect(answer).toBe(null)
  const open = new URL(way.at(-1) ?? '')
  expect([open.origin, open.pathname]).toEqual([stack.url, `/servers/${id}/open`])
  const eve = newBrowser(await newPerson(stack.url, 'Eve'))
  expect((await eve.open(at(9090))).answer?.status).toBe(404)
  // A program is told how to come in, and gets no cookie by its token.
  const bearer = { ...OPENS, authorization: `Bearer ${await tokenOf(ada.person)}` }
  expect((await ask(at(9090), { authorization: 'Bearer pg_x', accept: 'text/html' })).status).toBe(401)
  expect((await ask(`${main}.door/ports?port=9090&way=x`, bearer)).status).toBe(404)
})

/** What the main host gives this browser for port 9090, on its way back. */
async function wayBack(browser: ReturnType<typeof newBrowser>, path = 'x') {
  const asked = await browser.get(at(9090, path))
  const back = await browser.get(asked.headers.location ?? '')
  return back.headers.location ?? ''
}

test('what the main host gives works for this port, this browser, and 30 seconds', async () => {
  const browser = newBrowser()
  await browser.open((await newGuest()).url)
  const back = await wayBack(browser)
  expect(back.startsWith(at(9090, '.door/enter?pass='))).toBe(true)
  // Another browser, without and with a way of its own.
  expect((await newBrowser().open(back)).answer).toMatchObject({
    status: 400,
    text: expect.stringContaining('cookies'),
  })
  const other = newBrowser()
  await other.get(at(9090))
  expect((await other.open(back)).answer).toBe(null)
  expect(other.cookie(at(9090))).toBe('')
  // Another port, also in the browser it is for.
  await browser.get(at(8765))
  const moved = back.replace('-9090.', '-8765.')
  expect((await browser.get(moved)).headers.location).toContain('/.door/ports')
  // It's no cookie.
  const pass = new URL(back).searchParams.get('pass') ?? ''
  expect((await ask(at(9090), { cookie: `door=${pass}` })).status).toBe(401)
  for (const forged of ['x', `${pass}x`, pass.slice(1)])
    expect((await browser.get(back.replace(pass, forged))).headers.location).toContain('/.door/ports')
  // Late, it goes around once more.
  await stack.services.clock.advance(31)
  expect((await browser.get(back)).headers.location).toContain('/.door/ports')
  expect((await browser.open(back)).answer?.text).toBe('9090 has /x')
})

test('several tabs at once come in, and a browser that keeps no cookies learns why it doesn’t', async () => {
  const browser = newBrowser()
  await browser.open((await newGuest()).url)
  const ways = await Promise.all(['a', 'b', 'c'].map((path) => wayBack(browser, path)))
  const answers = await Promise.all(ways.map((way) => browser.open(way)))
  expect(answers.map(({ answer }) => answer?.text)).toEqual(['9090 has /a', '9090 has /b', '9090 has /c'])
  const refuses = newBrowser()
  await refuses.open((await newGuest()).url)
  const back = await wayBack(refuses)
  refuses.kept.delete(new URL(at(9090)).host)
  const { way, answer } = await refuses.open(back)
  expect([way.length, answer?.status]).toEqual([1, 400])
  // Nor any of the main host: a guest has nothing to sign in to, and an owner would go around for ever.
  const tab = { ...OPENS, 'sec-fetch-dest': 'document' }
  for (const [address, person] of [
    [(await newGuest()).url, null],
    [main, ada.person],
    [at(9090), ada.person],
  ] as const) {
    const forgets = newBrowser(person, { keeps: false })
    expect((await forgets.open(address, tab)).answer).toMatchObject({
      status: 400,
      text: expect.stringContaining('cookie'),
    })
  }
})

test('the way leads to the run’s own ports only, and not from a page of another run', async () => {
  const bob = await newRunner(stack, 'Bob')
  const browser = newBrowser()
  await browser.open((await newGuest()).url)
  for (const port of ['22', '5173', '', 'x', '9090@evil.example'])
    expect.soft((await browser.get(`${main}.door/ports?port=${port}&way=x`)).status, port).toBe(404)
  for (const to of ['//evil.example', 'https://evil.example/', '/.door/enter?guest=x']) {
    const opened = await browser.open(`${main}.door/ports?port=9090&to=${encodeURIComponent(to)}`)
    expect
      .soft(new Set(opened.way.map((each) => new URL(each).hostname.split('.').slice(1).join('.'))))
      .toEqual(new Set(['door.localhost']))
  }
  const fresh = newBrowser()
  await fresh.open((await newGuest()).url)
  for (const how of [frameIn, pictureIn])
    expect((await fresh.open(at(9090), how(bob.server.door_url))).answer?.status).toBe(403)
  expect(fresh.cookie(at(9090))).toBe('')
})

test('a guest’s link counts in a tab only, and the owner whom we took for a guest gets in', async () => {
  const { url, id: guest } = await newGuest()
  const owner = newBrowser(ada.person)
  expect((await owner.get(url, frameIn(main))).status).toBe(405)
  expect((await owner.open(url)).answer?.status).toBe(200)
  await ada.person.request('DELETE', `${guests}/${guest}`)
  const ended = await waitFor(async () => {
    const { answer } = await owner.open(main)
    return answer?.status === 404 && answer
  })
  const link = /href="([^"]+)"/.exec(ended.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
  expect((await owner.open(link)).answer?.status).toBe(200)
})

test('a browser that enters gets a page that opens every port, and leads on to a path of this host only', async () => {
  const browser = newBrowser()
  const tab = { ...OPENS, 'sec-fetch-dest': 'document' }
  const pageFor = async (to: string) => {
    const { answer } = await browser.open(`${(await newGuest()).url}&to=${encodeURIComponent(to)}`, tab)
    expect(answer?.headers['content-security-policy']).toContain(at(9090).slice(0, -1))
    return {
      to: /data-to="([^"]*)"/.exec(answer?.text ?? '')?.[1],
      hosts: /data-hosts="([^"]*)"/.exec(answer?.text ?? '')?.[1]?.split(' ') ?? [],
    }
  }
  const { to, hosts } = await pageFor('/a?b=c&d="><script>')
  expect(to).toBe('/a?b=c&amp;d=%22%3E%3Cscript%3E')
  expect(hosts).toEqual(WEB_PORTS.map((port) => at(port, '.door/enter')))
  for (const host of hosts) {
    const asked = { ...pictureIn(main), 'sec-fetch-dest': 'empty' }
    // The machine hears nothing of it.
    expect((await browser.open(host, asked)).answer).toMatchObject({ status: 204, text: '' })
    expect((await ask(host.replace('.door/enter', ''), { cookie: browser.cookie(host) })).status).toBeOneOf([200, 502])
  }
  for (const away of ['//evil.example', 'javascript:alert(1)', 'https://evil.example/'])
    expect((await pageFor(away)).to).toBe('/')
})

test('the page that opens every port, once they are out: a guest reads of the ended link, an owner goes on to the site', async () => {
  const address = `${main}.door/ports?to=/a`
  const site = `${stack.url}/servers/${id}/open?to=%2Fa`
  const [guest, owner] = [newBrowser(), newBrowser(ada.person)]
  const link = await newGuest()
  await guest.open(link.url)
  await owner.open(main)
  await ada.person.request('DELETE', `${guests}/${link.id}`)
  await waitFor(async () => (await guest.get(main)).status === 404)
  const ended = await guest.get(address)
  expect([ended.status, ended.text]).toEqual([404, expect.stringContaining('This link no longer works')])
  // Their cookie went with the browser.
  const restored = await newBrowser().get(address)
  expect([restored.status, restored.text]).toEqual([400, expect.stringContaining(`href="${site}"`)])
  await ada.person.request('DELETE', '/users/sign_out')
  await waitFor(async () => (await owner.get(main)).status === 302)
  expect((await owner.get(address)).headers.location).toBe(site)
})
